"""The public door for handler authors: what is not named here may change without notice."""

from appliance.coordination.handlers import Context, job
from appliance.coordination.outcomes import Done, Folded, Follow, Output, Part, Redo, Reject, Retry, Snooze, Split, Unclear

__all__ = ["Context", "Done", "Folded", "Follow", "Output", "Part", "Redo", "Reject", "Retry", "Snooze", "Split", "Unclear", "job"]
