from . import challenges as challenges
from . import definitions as definitions
from . import errors as errors
from . import metrics as metrics
from . import tables as tables
from .average_precision import AveragePrecision as AveragePrecision
from .campaign_report.campaign_report import CampaignReport as CampaignReport
from .comparison.compare import compare as compare
from .comparison.comparison import Comparison as Comparison
from .definitions import Definition as Definition
from .diagnosis.diagnosis import Diagnosis as Diagnosis
from .discovery_2015 import PersonDiscovery2015 as PersonDiscovery2015
from .evaluation.session import Answer as Answer
from .evaluation.session import Session as Session
from .live import Live as Live
from .live import Point as Point
from .live import WatchPage as WatchPage
from .results.evaluation import Evaluation as Evaluation
from .results.evaluation import Evaluation2015 as Evaluation2015
from .results.json_files import read_results as read_results
from .results.score import Score as Score
from .results.summary import summary as summary
from .trec import evaluate_trec as evaluate_trec
from .validation import Problem as Problem
from .validation import validate as validate

__version__: str
