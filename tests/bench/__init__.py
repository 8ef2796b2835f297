"""The benchmarks: figures as ratios, both sides of each taken in one run and in turns, since machines are noisy.

``figures`` says what a figure is and prints it, ``baseline`` compares two runs; ``submits``, ``claims``, ``latency`` and
``throughput`` measure; ``ledgers`` and ``running`` make what is measured, ``peer`` is the queue that ours is held against.
"""
