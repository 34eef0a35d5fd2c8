"""Quantities of the package siunitx and formulas of mhchem as text: `\\SI{5}{\\micro\\meter}`."""

import re

from carrel.libraries.bibliography.bibtex.tex_symbols import SUBSCRIPTS, SUPERSCRIPTS

# How many arguments each command has, and whether the last of them is a unit.
QUANTITIES = {
    "SI": (2, True), "qty": (2, True), "si": (1, True), "unit": (1, True), "num": (1, False),
    "ang": (1, False), "SIrange": (3, True), "qtyrange": (3, True), "numrange": (2, False),
}  # fmt: skip
_PREFIXES = {
    "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n", "micro": "µ",
    "milli": "m", "centi": "c", "deci": "d", "deca": "da", "hecto": "h", "kilo": "k", "mega": "M",
    "giga": "G", "tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y",
}  # fmt: skip
_UNITS = {
    "ampere": "A", "candela": "cd", "kelvin": "K", "kilogram": "kg", "gram": "g", "meter": "m",
    "metre": "m", "mole": "mol", "second": "s", "becquerel": "Bq", "coulomb": "C", "farad": "F",
    "gray": "Gy", "hertz": "Hz", "henry": "H", "joule": "J", "katal": "kat", "lumen": "lm",
    "lux": "lx", "newton": "N", "ohm": "Ω", "pascal": "Pa", "radian": "rad", "siemens": "S",
    "sievert": "Sv", "steradian": "sr", "tesla": "T", "volt": "V", "watt": "W", "weber": "Wb",
    "celsius": "°C", "degreeCelsius": "°C", "day": "d", "hour": "h", "minute": "min",
    "degree": "°", "arcminute": "′", "arcsecond": "″", "liter": "L", "litre": "l", "hectare": "ha",
    "tonne": "t", "dalton": "Da", "electronvolt": "eV", "bel": "B", "decibel": "dB", "neper": "Np",
    "astronomicalunit": "au", "percent": "%", "angstrom": "Å", "bar": "bar", "barn": "b",
    "bit": "bit", "byte": "B", "parsec": "pc",
    "km": "km", "cm": "cm", "mm": "mm", "um": "µm", "nm": "nm", "kg": "kg", "mg": "mg", "ms": "ms",
    "us": "µs", "ns": "ns", "kHz": "kHz", "MHz": "MHz", "GHz": "GHz", "THz": "THz", "keV": "keV",
    "MeV": "MeV", "GeV": "GeV", "TeV": "TeV", "meV": "meV", "eV": "eV", "mV": "mV", "kW": "kW",
    "mW": "mW", "kPa": "kPa", "MPa": "MPa", "GPa": "GPa", "mL": "mL", "ml": "ml", "ul": "µl",
    "uL": "µL", "dB": "dB", "mol": "mol", "mmol": "mmol", "uM": "µM",
}  # fmt: skip
_POWERS_BEFORE = {"square": "2", "cubic": "3"}
_POWERS_BEHIND = {"squared": "2", "cubed": "3"}
_PART = re.compile(r"\\([A-Za-z]+)\s*(?:\{([^{}\\]*)\})?|\^\{?(-?\d+)\}?|[.~]|([^\\^.~{}]+)|[{}]")
_NUMBER = re.compile(r"^(.*\d)?[eE]([-+]?\d+)$")
_ANGLE_MARKS = "°′″"


_COUNT = re.compile(r"(?<=[A-Za-z)\]])\d+")
_CHARGE = re.compile(r"\^\{?([\d+-]+)\}?")


def formula_text(raw: str) -> str:
    """A chemical formula: counts below, charges and isotopes above."""
    text = _CHARGE.sub(lambda found: _raised(found.group(1)), raw)
    text = _COUNT.sub(lambda found: "".join(SUBSCRIPTS[sign] for sign in found.group()), text)
    return text.replace("<->", "↔").replace("->", "→").replace("{", "").replace("}", "")


def quantity_text(name: str, arguments: list[str]) -> str:
    """What one of the commands shows."""
    if name == "ang":
        parts = zip(arguments[0].split(";"), _ANGLE_MARKS, strict=False)
        return "".join(f"{part.strip()}{mark}" for part, mark in parts if part.strip())
    has_unit = QUANTITIES[name][1]
    numbers = [_number_text(text) for text in (arguments[:-1] if has_unit else arguments)]
    unit = unit_text(arguments[-1]) if has_unit else ""
    shown = "–".join(numbers)
    return (
        f"{shown}{unit}"
        if unit[:1] in {"°", "′", "″"} and unit[1:2] != "C"
        else " ".join(filter(None, (shown, unit)))
    )


def _number_text(text: str) -> str:
    text = " ".join(text.replace("+-", " ± ").split())
    found = _NUMBER.match(text)
    if not found:
        return text
    mantissa, exponent = found.groups()
    power = f"10{_raised(exponent.lstrip('+'))}"
    return f"{mantissa} × {power}" if mantissa else power


def _raised(number: str) -> str:
    return "".join(SUPERSCRIPTS.get(sign, sign) for sign in number)


def unit_text(raw: str) -> str:
    """A unit of macros or letters, with powers as superscripts: kg m s⁻²."""
    units: list[str] = []
    prefix = power = sign = ""
    for found in _PART.finditer(raw):
        name, argument, exponent, letters = found.groups()
        if name in _PREFIXES:
            prefix = _PREFIXES[name]
        elif name == "per":
            sign = "-"
        elif name in _POWERS_BEFORE:
            power = _POWERS_BEFORE[name]
        elif name in _POWERS_BEHIND or name == "tothe" or exponent:
            raised = exponent or _POWERS_BEHIND.get(name or "", argument or "")
            if units:
                units[-1] = units[-1].rstrip(_raised("-1")) + _raised(
                    "-" * units[-1].endswith(_raised("-1")) + raised
                )
        elif name == "raiseto":
            power = argument or ""
        elif name or (letters and letters.strip()):
            symbol = _UNITS.get(name, name) if name else (letters or "").strip()
            exponent = f"{sign}{power or ('1' if sign else '')}"
            units.append(f"{prefix}{symbol}{_raised(exponent)}")
            prefix = power = sign = ""
    return " ".join(units).replace(" /", "/")
