"""What it is for: good ends, ill will, and the frames an aim is put in."""

AIMS = {
    "PROTECT": r"""
treat(?:s|ing|ment|ments)?\b   stop(?:s|ping)?\b   fight\w*   combat\w*   sav(?:e|ing)\b   cur(?:e|ing)\b
therap\w+   vaccines? (?:against|for|to)   (?:develop|improve|test|design) (?:\w+ ){0,3}vaccines?
vaccin\w+ effects   antidotes?   countermeasures?   protect(?!ive (?:cloth|equip|gear|mask|suit|meas))\w*
prevent\w*   detect\w*   diagnos\w+   neutrali[sz]\w+   survivors?   rescue   monitor(?:ing|ed)?\b   reduc\w+
revers\w+   detoxif\w+   screen (?:imported|food|for)   prepare hospitals   so that vaccines   surviv\w+
recover\w*   biomarkers?   overdose   addiction   craving   safety of   relie(?:f|ve)\w*   decontaminat\w+
remediat\w+   attenuat\w+   eradicat\w+   biosecurity   biodefen[cs]e   non-?addictive   pain medicine
under licen[cs]e   analgesi\w+   health (?:effects|of)   lung disease   immune\b   immunity   anti-?venom\w*
preparedness   oncolytic
against (?:\w+ ){0,3}(?:cancer|tumou?r|melanom|gliom|mosquito|pest|insect|locust|weed|beetle)\w*
(?:cancer|tumou?r) cells?   (?:care|help|support) for   victims? of   wounded   resilien\w+   withstand
keep (?:\w+ )?(?:working|running)   fix(?:es|ed|ing)?\b   tests? for   warn\w*   sensors?   assays?   defend\w*
respond\w*   response to   secur(?:e|ing)\b   demin\w+   prepare for
(?:find|locat\w*|clear\w*) (?:\w+ ){0,2}(?:landmines?|explosives?|bombs?)
""",
    "LOOK_BACK": r"""
(?<!natural )history   historical   ethic\w+ of   polic(?:y|ies)   first world war   second world war   trust in
regulat(?:ion|ory)   treaty   convention\b   misuse   aftermath
long-term (?:effect|outcome|health|consequence|follow|risk|safety|surviv|trend|lung|brain|care|result|impact
|disease|change)\w*
consent be   controvers\w+   debates?   moratorium   oversight   improv\w+ (?:\w+ )?consent   acceptab\w+
attitudes?   opinions?   what does the public   forensic (?:identif|analy|investig|toxicolog)\w+
epidemiolog\w+   black death   informed consent (?:in|for|process)   with informed consent
""",
    "EXPLAIN": r"""
^\s*(?!.*\bhow (?:to|do (?:i|we|you|one)|i|one|someone)\b)(?:how (?:do|does|did|are|is)\b(?! (?:i|we|you
|one)\b)|why(?! not)\b|what (?:causes|makes|explains)\b|understand\w*|mechanisms? of|(?:examine|investigate
|assess|study) (?:how|why|whether) (?!.*\b(?:could|would|can|might|best|most|so that|to|i|we|one)\b)
|the role of|role of|effects? of|explore the mechanism|gain a better understanding)
""",
    "ILL_WILL": r"""
(?:want|wish|need|intend|plan|hope|aim|would like|going|tr[yi]
|order)\w* (?:\w+ ){0,2}?to (?:\w+ ){0,2}?{HURT}(?! (?:[\w-]+ ){0,4}{NOT_PEOPLE})
(?<!likely )(?<!known )(?<!ability )(?<!able )(?<!tendency )(?:to (?!\w+ing )
|for )(?:\w+ and )?{HURTING}(?: \w+){0,3} {HARMED}
(?<![^.;:,] )\b(?:kill|poison(?! frogs?)|starve|murder|sicken|blind|maim|massacre) (?:\w+ ){0,3}(?:{HARMED}
|city|town)
(?:develop|design|creat|build|invent|engineer|produc)\w* (?:[\w-]+ ){0,4}that (?:makes? {HARMED} {STRICKEN}
|(?:kill|harm|hurt|cripple|paraly[sz]e|sicken|blind)s? (?:\w+ ){0,2}(?:{HARMED}|towns?|cit(?:y|ies)|nations?))
(?:put|slip|add|mix|drop)\w* (?:\w+ ){0,3}(?:in|into|to) (?:his|her|my \S+|someone's) (?:tea|coffee|food|meal
|drink|dinner|soup)
for (?:an|the|our) attack\b
(?:how to|plan to|and) (?:cause|do|inflict) (?:\w+ )?(?:harm|injury|injuries|pain) (?:to|on) (?:others|{HARMED})
weapons? (?:[\w-]+ ){0,4}to (?:kill|assassinate|harm|maim|attack)   to depopulate
(?:^|to )(?:make|render) (?:\w+ ){0,3}{HARMED} (?:\w+ ){0,4}{STRICKEN}
ideal for (?:caus|kill|attack|spread)\w*
(?:is|are|be) (?:\w+ ){0,2}(?:unable|powerless) to (?:remember|resist) (?:an? |the )?(?:assault|attack|rape)
without any authori[sz]ation   so that (?:\w+ ){1,5}(?:dies?|starves?|perish)\b
(?:end|ending|destroy\w*) (?:all )?(?:humanity|mankind|human life|civili[sz]ation)
(?:end|ending|take|taking) (?:\w+ )?(?:patient|people|person|someone|his|her|human)(?:s|'s
|s')? (?:\w+ )?(?:life|lives)\b
unable to remember (?:an|the) assault
caus(?:e|ing) (?:a |an |as )?(?:many |mass )?(?:famine|deaths?|panic|terror)\b
""",
    "SEEK": r"""
(?:best|ideal|perfect|easiest|simplest|quickest)\b
most (?:effective|efficient|promising|suitable|reliable|damaging|destructive|deadly|lethal)\b   least suspicious
(?:which|what) (?:\S+ ){0,4}?(?:would|could|should|might)\b   how (?:could|should|would|might)\b
ways? (?:to|of|for)\b   method (?:to|of|for)\b   hypotheses   propos\w+   suggest\w*   plan\b   programme\b
program\b
""",
    "ROLE": r"""
(?:you are|you're) (?:now )?an?\b   act(?:ing)? (?:as|like) an?\b   pretend\w*
imagin(?:e|ing) (?:you|that you|we|an?)\b   play(?:ing)? the (?:part|role)   role-?play\w*
for (?:my|a|our) (?:novel|story|thriller|film|script|screenplay|game)\b
as an? (?:mystery|crime|thriller|fiction) (?:writer|author)   in the (?:voice|character) of
(?:writ|tell)\w* (?:me )?(?:a|the) (?:story|novel|tale|scene|script)   as a story
as an? (?:\w+ ){0,4}(?:for|of) an? (?:terror\w*|militia|cartel|cult|rogue)
""",
    "VILLAIN": r"""
evil\b   extremists?   insurgents?   cults?\b   rogue (?:state|nation|regime|group)   villain\w*   assassins?\b
hit ?man   terrorists?\b   cartels?\b   bomb[- ]?makers?   poisoners?\b   drug lords?   warlords?   dictators?
cult leaders?   attackers?\b   murderers?   militias?   super-?villain\w*
bioweapons? (?:scientist|engineer|expert|developer)s?
(?:no|without) (?:any )?(?:ethical|moral) (?:limits|constraints|rules)
""",
    "DEFEATED": r"""
(?:cannot|can ?not|no longer|never|nobody can|no one can) (?:\w+ ){0,2}?(?:be )?{GUARD}
no (?:\w+ )?(?:vaccine|treatment|antidote|therapy|cure)\b
(?:immune|resistant|impervious) to (?:\w+ ){0,3}{SHIELD}
(?:defeat|escap|evad|overcom|resist|bypass|circumvent)\w* (?:\w+ ){0,3}(?:{SHIELD}|{GUARD})
{SHIELD} (?:\w+ ){0,2}{FAILS}   ^(?:for|to|as part of|as an?|in the (?:interest|name) of|under)\b[^,]{3,60},
""",
}
