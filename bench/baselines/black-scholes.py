"""Black-Scholes in array libraries of Python: one expression after the other."""

import numpy as np


def below(xp, d):
    k = 1 / (1 + 0.2316419 * xp.abs(d))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937
                  + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * xp.exp(-0.5 * d * d) * series
    return xp.where(d > 0, 1 - tail, tail)


def options(xp, prices, strikes, years, rate, volatility):
    spread = volatility * xp.sqrt(years)
    d1 = (xp.log(prices / strikes) + (rate + 0.5 * volatility * volatility) * years) / spread
    n1, n2 = below(xp, d1), below(xp, d1 - spread)
    discounted = strikes * xp.exp(-rate * years)
    return [prices * n1 - discounted * n2, discounted * (1 - n2) - prices * (1 - n1)]


def numpy(*arguments):
    return options(np, *arguments)


def torch(torch_module, *arguments):
    return options(torch_module, *arguments)


def jax(jnp, *arguments):
    return options(jnp, *arguments)


def cupy(cp, *arguments):
    return options(cp, *arguments)
