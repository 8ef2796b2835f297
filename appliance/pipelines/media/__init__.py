"""Quality control of films, on the exact path: one film, many parts, and always the same bytes.

What this package promises: the report and the frame data of a film depend on the film's content, the profile and the
engine, and on nothing else; not on the number of workers, the order in which parts end, or the deaths on the way.

How a film goes through, one module a step:

    film -> indexing -> timestamps, streams -> plan          the job itself:  a table of all packets, and where to cut it
    landing -> decoding -> planes, pixels -> measure         each part:       integers about every frame, nothing stateful
    seams -> runs -> coverage -> folding -> framedata        the fold:        strictly in order; what crosses a seam
    verdicts -> report                                       the conclusion:  canonical JSON

The invariant: frames are addressed by the ordinal of their packet, never by time, and a part is folded only if its first
frames are those on which its predecessor ran out.  It never installs a log callback (PyAV's can deadlock with Python's
logging), never decodes with more than one thread, and never writes a file.
"""
