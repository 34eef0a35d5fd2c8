"""What it is for: good ends, ill will, and the frames an aim is put in."""

AIMS = {
    "PROTECT": r"""
treat(?:s|ing|ment|ments)?\b   stop(?:s|ping)?\b   fight\w*   combat\w*   sav(?:e|ing)\b   cur(?:e|ing)\b
therap\w+   vaccines? (?:against|for|to)   (?:develop|improve|test|design) (?:\w+ ){0,3}vaccines?
vaccin\w+ effects   antidotes?   countermeasures?   protect(?!ive (?:cloth|equip|gear|mask|suit|meas))\w*
prevent\w*   detect\w*   diagnos\w+   neutrali[sz]\w+   survivors?   rescue   monitor\w*   reduc\w+   revers\w+
detoxif\w+   screen (?:imported|food|for)   prepare hospitals   so that vaccines   surviv\w+   recover\w*
biomarkers?   overdose   addiction   craving   safety of   relie(?:f|ve)\w*   decontaminat\w+   remediat\w+
attenuat\w+   eradicat\w+   biosecurity   biodefen[cs]e   non-?addictive   pain medicine   under licen[cs]e
analgesi\w+   health (?:effects|of)   lung disease   immune\b   immunity   anti-?venom\w*   preparedness
""",
    "LOOK_BACK": r"""
(?<!natural )history   historical   ethic\w+ of   polic(?:y|ies)   first world war   second world war   trust in
regulat(?:ion|ory)   treaty   convention\b   misuse   aftermath   long-term   consent be
improv\w+ (?:\w+ )?consent   epidemiolog\w+   black death   informed consent (?:in|for|process)
with informed consent
""",
    "EXPLAIN": r"""
^\s*(?:how (?:do|does|did|are|is)\b|why\b|what (?:causes|makes|explains)\b|understand\w*|mechanisms? of
|the role of|role of|effects? of|explore the mechanism|gain a better understanding)
""",
}
