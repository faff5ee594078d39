"""All rules, in the order in which their problems are listed, and all kinds of problems."""

from __future__ import annotations

from mediaeval_ap.validation.rules import confidences, evidence, format, names, repeats, shots

RULES = (
    *format.RULES,
    *repeats.RULES,
    *names.RULES,
    *confidences.RULES,
    *shots.RULES,
    *evidence.RULES,
)
KINDS = {
    kind.name: kind
    for severity in ('error', 'warning')
    for rule in RULES
    for kind in rule.kinds
    if kind.severity == severity
}
