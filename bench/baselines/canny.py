"""Canny's edges in array libraries of Python."""

import numpy as np


def pixel_weights(pixels, width):
    rgb = pixels.reshape(-1, width)
    return (77 * (rgb >> 16 & 255) + 150 * (rgb >> 8 & 255) + 29 * (rgb & 255)) / 256


def classes(ndimage, grey, low, high):
    weights = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
    smooth = ndimage.correlate1d(ndimage.correlate1d(grey, weights, 1), weights, 0)
    gx, gy = ndimage.sobel(smooth, 1), ndimage.sobel(smooth, 0)
    steep = np.abs(gx) + np.abs(gy)
    ax, ay = np.abs(gx), np.abs(gy)
    ways = [ay < 0.41421356 * ax, ay > 2.41421356 * ax, gx * gy > 0]
    shifts = [(0, 1), (1, 0), (1, 1), (1, -1)]
    before = np.select(ways, [np.roll(steep, s, (0, 1)) for s in shifts[:3]],
                       np.roll(steep, shifts[3], (0, 1)))
    behind = np.select(ways, [np.roll(steep, (-i, -j), (0, 1)) for i, j in shifts[:3]],
                       np.roll(steep, (-1, 1), (0, 1)))
    ridge = (steep > before) & (steep >= behind)
    for side in (ridge, ridge.T):
        side[:4] = side[-4:] = False
    return ridge & (steep >= low), ridge & (steep >= high)


def scipy(pixels, width, low, high):
    from scipy import ndimage
    if width < 9 or len(pixels) < 9 * width:
        return [np.zeros(len(pixels), bool)]
    some, strong = classes(ndimage, pixel_weights(pixels, width), low, high)
    labels, count = ndimage.label(some, np.ones((3, 3)))
    kept = np.zeros(count + 1, bool)
    kept[labels[strong & some]] = True
    kept[0] = False
    return [kept[labels].ravel()]
