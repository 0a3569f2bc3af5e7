"""
Time series
===========

What a machine does, from its vibrations: windows of a long signal, described by the moduli of their
Fourier coefficients, which do not depend on where a window begins.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sparseksc import KernelSpectralClustering

rng = np.random.default_rng(0)
state = np.repeat([0, 1, 2, 1, 0, 2], 500)
phase = np.cumsum(np.array([0.2, 0.5, 1.0])[state])
signal = np.sin(phase) + 0.3 * rng.normal(size=len(phase))

windows = sliding_window_view(signal, 60)[::10]
moduli = np.abs(np.fft.rfft(windows))
model = KernelSpectralClustering(3, kernel="landmarks", random_state=0).fit(moduli)

figure, (above, below) = plt.subplots(2, 1, figsize=(9, 4), sharex=True, layout="constrained")
above.plot(signal, linewidth=0.4)
above.set_title("signal")
below.scatter(30 + 10 * np.arange(len(windows)), model.labels_, c=model.labels_, s=8)
below.set(yticks=range(3), title="cluster of each window", xlabel="time")
