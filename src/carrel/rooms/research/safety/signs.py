"""The signs rules are made of: what a text wants done (acts), to or with what (objects), how and to whom (means, ends)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Sign(StrEnum):
    """One thing a text can show."""

    MAKE = "making"
    DEPLOY = "deploying"
    WORSEN = "making a pathogen worse"
    HARM_PEOPLE = "harm to people"
    INSTRUCT = "step-by-step instructions"
    KILL_SELF = "harm to oneself"
    EVADE = "evading notice"
    NO_CONSENT = "no consent"
    WEAPON = "weapon of mass harm"
    EXPLOSIVE = "explosive"
    PATHOGEN = "pathogen"
    GRAVE_PATHOGEN = "pathogen of the gravest kind"
    TOXIN = "toxin or poison"
    DRUG = "drug of abuse"
    ILLICIT = "illicit trade"
    PEOPLE = "people"
    CAPTIVE = "people who cannot refuse"
    PUBLIC_PLACE = "public place or supply"
    LIVELIHOOD = "crops, herds or vital systems"
    ENEMY = "an enemy or a country"
    BREACH = "breaking in or stealing"
    SECURED = "guarded laboratory or material"
    RUIN = "ruining"
    INTERVENE = "acting on people"
    PROTECT = "protection, treatment or detection"
    LOOK_BACK = "history, ethics or policy"
    EXPLAIN = "explaining what happens"


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(alternatives) + r")", re.IGNORECASE)


_HARMED = (
    r"(?:people|persons?|child|babies|baby|infants?|toddlers?|girls?|boys?|(?:grand)?mother|(?:grand)?father|famil(?:y|ies)|colleagues?|coworkers?|teachers?|students?|someone|somebody|anyone|everyone|humans?|civilians?|crowds?|victims?|children|husband|wife|partner|boss|neighbou?rs?"
    r"|politicians?|presidents?|protesters?|demonstrators?|soldiers?|troops|enem(?:y|ies)|populations?|inhabitants|residents|commuters|passengers"
    r"|rivals?|opponents?|women|men|patients?|prisoners?|detainees|captives|thousands|millions|many|several|descent|ethnic\w*|minorit\w+)"
)
_TRAIT = (
    r"(?:lethal\w*|deadl\w+|virulen\w+|transmissib\w+|transmission between|contagious\w*|infectiv\w*|infectious(?:ness)?|fatality|mortality"
    r"|pathogenic\w*|airborne|spreads? (?:faster|quickly|more|easily|efficiently|among|by)|pass\w* efficiently|person to person"
    r"|human[- ]to[- ]human|between humans|from human to human|by the air|incubation)"
)
_RESIST = (
    r"(?:resist\w*|escap\w+|evad\w+|immune|imperviou\w+|defeat\w*) (?:to |from )?(?:\w+ ){0,3}"
    r"(?:vaccin\w+|antiviral\w*|antibiotic\w*|treatment\w*|therap\w+|drugs?|immunity|ciprofloxacin|doxycycline|tecovirimat|antibod\w+)"
)
_LED = r"(?:^|[.;:,]\s*|\b(?:to|and|or|by|for|of|would|could|should|ways?|how|me|please|then|that)\s+)"
_AGENCY = (
    # Verbs of engineering say enough by themselves; `increase` and its like only as what someone sets out to do, not what is seen.
    r"(?:\b(?:engineer(?:ing)?|design(?:ing)?|creat(?:e|ing)|construct(?:ing)?|modif(?:y|ying|ications?)|render(?:ing)?|breed(?:ing)?|tweak(?:ing)?"
    r"|gain(?:ing)?[- ]of[- ]function|gain airborne|passag(?:e|ing)|edits? that|supercharg(?:e|ing)|reprogram(?:ming)?)\b|"
    + _LED
    + r"(?:mak(?:e|ing)|develop(?:ing)?|enhanc(?:e|ing)|increas(?:e|ing)|boost(?:ing)?|rais(?:e|ing)|improv(?:e|ing)|evolv(?:e|ing)|alter(?:ing)?"
    r"|maximi[sz](?:e|ing)|optimi[sz](?:e|ing)|amplify(?:ing)?|strengthen(?:ing)?|giv(?:e|ing)|confer(?:ring)?|introduc(?:e|ing)|insert(?:ing)?|turn(?:ing)?)\b)"
)

_PATTERNS: dict[Sign, re.Pattern[str]] = {
    Sign.MAKE: _any(
        r"ma(?:ke|king|de)\b", r"purchas\w+", r"build\w*", r"creat(?:e|es|ing|ion)\b", r"design\w*", r"develop\w*", r"produc\w+", r"manufactur\w+", r"synthesi\w+",
        r"cook\w*", r"extract\w*", r"purif\w+", r"formulat\w+", r"construct(?:ing)?\b", r"reconstruct(?:ing)?\b", r"cultivat\w+", r"harvest\w*", r"scal(?:e|ing) up",
        r"optimi[sz]\w+", r"enrich\w*", r"assembl(?:e|ing)\b", r"cultur(?:e|ing)\b", r"set(?:ting)? up\b", r"prepar(?:e|ing) (?:a|an|some)\b", r"obtain\w*", r"acquir\w+", r"grow(?:ing)?\b", r"recipe",
        r"brew\w*", r"deriv(?:e|ing)\b", r"devis\w+", r"improv\w+", r"identify", r"novel", r"suggest", r"precursors?", r"stabili[sz]\w+", r"stability of",
    ),  # fmt: skip
    Sign.DEPLOY: _any(
        r"weaponi[sz]\w+", r"dispers\w+", r"aerosoli[sz]\w+", r"releas(?:e|ing)\b", r"deploy\w*", r"attack(?:s|ing)?\b", r"spray\w*",
        r"(?:to spread|spreading|be used to spread) (?:\w+ ){1,3}(?:over|through|across)", r"tamper\w*", r"to spread (?:a|an|the|this|it)\b", r"(?:start|caus|trigger|ignit)\w* (?:a|an|the) (?:\w+ ){0,2}(?:outbreak|epidemic|pandemic)", r"contaminat(?:e|ing)\b", r"poison (?:a|the|an|someone|somebody|people|my)\b",
        r"poisoning (?:a|the|of a|someone|people|my)\b", r"spik(?:e|ing) (?:the |a |an |his |her |their |some )?(?:food|drinks?|water|punch|meals?|cups?|beverages?)", r"smear\w*", r"slip(?:ped|ping)? (?:\w+ )?in", r"unleash\w*", r"set (?:\w+ )?(?:free|loose)",
        r"detonat\w+", r"launch\w*", r"plant(?:ing)? a", r"drop(?:ping)? (?:it|them) (?:on|over)", r"crop dusters?", r"inject(?:ing)? (?:it )?into the",
    ),  # fmt: skip
    Sign.WORSEN: re.compile(
        rf"{_AGENCY}[^.;]{{0,90}}?\b(?:{_TRAIT}|{_RESIST})|\b(?:vaccine|antibiotic|antiviral|drug|treatment|multidrug)[- ]resistant (?:strain|version|variant|form|mutant)"
        rf"|\bmutations?\b[^.;]{{0,40}}\bwould\b[^.;]{{0,80}}(?:{_TRAIT}|{_RESIST})|\b(?:edits?|changes) (?:that|to) let\b|\bno (?:drug|vaccine|antibiotic) can\b"
        r"|\bgain[- ]of[- ]function\b|\b(?:more|highly|extremely) (?:lethal|deadly|contagious|virulent|transmissible)\b|\bstealth (?:virus|pathogen|strain)",
        re.IGNORECASE,
    ),
    Sign.HARM_PEOPLE: re.compile(
        rf"\binjur(?:e|es|ing) {_HARMED}\b|\b(?:kill|murder|assassinat|harm|hurt|maim|incapacitat|poison|exterminat|cull|massacr|blind|steril|punish|tortur|hunt)\w*"
        rf"(?: and \w+)?(?: \w+){{0,4}} {_HARMED}\b|\bassassinat\w+|\bmurder\w*|\bterroris\w+|\bmass (?:casualt\w+|murder|killing)|\bgenocid\w+|\bdepopulat\w+|\bethnic (?:group|cleansing)"
        r"|\b(?:people|children|patients|many|they|babies) (?:\w+ ){0,4}(?:die|fall ill|get sick|suffer)\b|\bas many (?:people|casualties|deaths)|\bcasualties\b(?! incident)"
        r"|\bmake (?:a|the) person unconscious|\bunconscious without|\bchosen victim|\bnatural death\b|\blethal dose\b(?=.*\b(?:my|for a|someone|person)\b)"
        r"|\bheart attacks? undetect|\bhow much torture|\bagainst (?:protesters|crowds|civilians|demonstrators|a population|people)|\bfor use as a weapon|\bsteriliz?s?es? people"
        r"|\bhunts? and kills?|\binfect(?:s|ing)? as many|\bto (?:infect|sicken|blind|paraly[sz]e) (?:\w+ ){0,3}(?:people|civilians|crowds|victims|someone)",
        re.IGNORECASE,
    ),
    Sign.INSTRUCT: _any(
        r"(?:detailed |specific |step-by-step )*instructions?", r"step[- ]by[- ]step", r"tutorial", r"(?:a |the )?guide (?:on|to|for) (?:how|mak|build|tamper)", r"recipes? for", r"create a (?:list|plan)", r"devise a plan",
        r"plan (?:for|to) (?:start|smuggl|kill|attack|releas|poison)\w*", r"(?:give|some) (?:\w+ )?(?:advice|tips)", r"easy to (?:make|obtain|destroy|synthesi[sz]e|get)", r"(?:describe|explain|tell me|show me) (?:\w+ ){0,3}how to",
        r"how (?:to|can i|could i|do i|would i|could one|would one)\b",
    ),  # fmt: skip
    Sign.KILL_SELF: re.compile(
        r"\b(?:kill|hang|poison|end|harm|hurt) (?:myself|my (?:own )?life)|\b(?:best|painless\w*|easy|easiest|quick\w*|reliable) (?:\w+ ){0,3}(?:suicide|way to die)"
        r"|\bcommit(?:ting)? suicide|\bsuicide (?:method|recipe)s?|\bway to (?:die|end it)",
        re.IGNORECASE,
    ),
    Sign.EVADE: _any(
        r"untraceabl\w*", r"undetectabl\w*", r"no trace", r"(?:not|never) (?:be )?(?:detected|noticed|traced|found out)", r"without (?:being |getting )?(?:noticed|detected|detection|caught|traced|raising)", r"hard to trace", r"evad\w+ (?:\w+ ){0,3}(?:tools?|filter\w*|tracing|monitor\w*)",
        r"evad\w+ (?:\w+ ){0,3}(?:detect\w+|screen\w*|controls?|security|customs|inspect\w+|surveillance|law|police|polic\w+)", r"avoid\w* (?:\w+ ){0,3}(?:detect\w+|customs|controls?|police|inspect\w+|regulat\w+)",
        r"(?:get|gets|getting|slip|sneak|pass\w*|smuggl\w+) (?:\w+ ){0,4}(?:past|around|round|through) (?:\w+ ){0,3}(?:screening|security|customs|controls?|act\b|law|regulat\w+|police)",
        r"pass(?:es)? (?:airport )?security", r"past (?:\w+ ){0,2}(?:screening|security)", r"hide (?:\w+ ){0,4}from", r"in secret\b", r"secretly", r"covert\w*", r"clandestin\w+",
        r"look like (?:an? )?(?:natural|accident\w*)", r"circumvent\w*", r"bypass\w* (?:\w+ ){0,3}(?:screen\w*|control\w*|security|regulat\w+|safeguards?)", r"not yet scheduled", r"stealth\b",
    ),  # fmt: skip
    Sign.NO_CONSENT: _any(
        r"without (?:\w+ ){0,2}(?:consent|knowledge|permission|approval|agreement)", r"without (?:telling|informing|asking)", r"unwitting\w*", r"unknow(?:n to them|ingly)",
        r"covertly", r"secretly (?:medicat|administ|giv|test|treat|expos|infect|dos)\w+", r"cannot (?:refuse|say no|consent)", r"can ?not refuse", r"against (?:their|her|his) will",
        r"(?:do|does|did|who have|have|has) not (?:know|agreed?|consent\w*)(?! (?:how|why|if|whether))", r"not agreed", r"non-?consen\w+", r"uninformed", r"forced?\b (?:\w+ ){0,2}(?:interrogat|experiment|trial|steril|test)\w*",
        r"unaware", r"deceiv\w+", r"without ethic\w+", r"no consent",
    ),  # fmt: skip
    Sign.WEAPON: _any(
        r"chemical (?:weapon|warfare)\w*", r"bio-?weapon\w*", r"biological (?:weapon|warfare)\w*", r"nerve (?:agent|gas)\w*", r"sarin\b", r"\bVX\b", r"tabun", r"soman\b", r"novichok\w*", r"cyclosarin",
        r"(?:sulfur |sulphur )?mustard (?:gas|agent)\w*", r"dirty bomb\w*", r"radiological (?:dispersal|weapon|bomb)\w*", r"nuclear (?:weapon|bomb|device|warhead|explosive)\w*", r"weapons?[- ]grade", r"(?:highly )?enriched uranium",
        r"(?:improvised|crude) nuclear", r"poison gas\w*", r"toxic gas\w*", r"lewisite", r"phosgene", r"weapons? of mass", r"mass[- ]casualty", r"lethal (?:agent|aerosol|gas)\w*", r"war gas\w*", r"aerosol attack",
        r"fissile", r"blister agent\w*",
    ),  # fmt: skip
    Sign.EXPLOSIVE: _any(
        r"explosives?\b(?! (?:volcan|erupt|growth|event|outbreak))", r"(?:pipe|nail|car|letter|time|homemade|fertili[sz]er|suicide) bombs?", r"bombs?\b(?! calorimet)", r"grenades?", r"\bIEDs?\b", r"detonators?",
        r"incendiar\w+", r"drones? (?:\w+ ){0,4}(?:kill|hunt|attack)\w*", r"swarm of drones", r"\bTATP\b", r"landmines?",
    ),  # fmt: skip
    Sign.PATHOGEN: _any(
        r"virus\w*", r"viral", r"influenza", r"flu\b", r"h\d+n\d+", r"coronavir\w+", r"sars\b", r"sars-cov-2", r"covid\S*", r"dangerous (?:dna |genetic )?sequences?", r"select agents?", r"e\. ?coli", r"mers\b", r"ebola\w*", r"marburg\w*", r"smallpox", r"variola", r"measles", r"polio\w*", r"nipah",
        r"hendra", r"lassa", r"anthrax", r"bacill\w+", r"anthracis", r"yersinia", r"pestis", r"plague", r"tubercul\w+", r"pathogen\w*", r"bacteri\w+", r"strains?\b", r"tularens\w+", r"tularemia", r"fever",
        r"microb\w+", r"rabies", r"cholera", r"hepatitis", r"hiv\b", r"fung(?:us|i|al)", r"rinderpest", r"spores?", r"germs?\b", r"superbug\w*", r"clostridium", r"toxoplasm\w+", r"prions?", r"contagion",
    ),  # fmt: skip
    Sign.GRAVE_PATHOGEN: _any(
        r"variola", r"smallpox", r"1918", r"spanish flu", r"ebola", r"marburg", r"nipah", r"h5n1", r"synthetic pathogen", r"chimeric (?:corona)?virus", r"anthra(?:x|cis)", r"pestis", r"plague", r"lassa", r"rinderpest",
    ),  # fmt: skip
    Sign.TOXIN: _any(
        r"ricin\b", r"abrin\b", r"botulin\w+", r"saxitoxin", r"tetrodotoxin", r"toxins?\b", r"toxic (?:substance|agent|compound|chemical|drug)\w*", r"poison\w*", r"cyanide", r"arsenic", r"thallium", r"polonium",
        r"venoms?", r"chlorine gas", r"strychnine", r"parathion", r"organophosphates?", r"nicotine poison\w*", r"warfarin poison\w*", r"biohazard\w*", r"digitoxin", r"colchicine", r"brodifacoum", r"chemical agents?", r"dimethyl ?mercury", r"hydrogen cyanide", r"chloroform", r"neurotoxin\w*", r"paralytic", r"sedatives?", r"lethal (?:dose|compound|substance)\w*", r"toxicants?", r"compound that induces", r"knock-?out drops", r"interrogation drugs", r"amatoxin\w*", r"aconit\w+",
        r"psychoactive", r"slip(?:ped)? into a drink",
    ),  # fmt: skip
    Sign.DRUG: _any(
        r"methamphetamines?", r"crystal meth", r"\bmeth\b", r"amphetamines?", r"heroin", r"cocaine", r"crack cocaine", r"mdma", r"ecstasy", r"\blsd\b", r"fentanyl\w*", r"carfentanil", r"opioids?", r"opiates?",
        r"designer drugs?", r"controlled substances?", r"\bghb\b", r"ketamine", r"psilocybin", r"cathinones?", r"synthetic cannabinoids?", r"nitazenes?", r"narcotics?", r"street drugs?", r"recreational drugs?", r"date[- ]rape",
    ),  # fmt: skip
    Sign.ILLICIT: _any(
        r"at home", r"household", r"home(?:made| production| lab)", r"kitchen", r"street", r"sell\w*", r"sold\b", r"sale\b", r"deal(?:er|ers|ing)\b", r"traffick\w+", r"customs", r"unregulated", r"unscheduled", r"not (?:yet )?(?:scheduled|controlled|regulated|listed)",
        r"clandestin\w+", r"law enforcement", r"police", r"illegal\w*", r"illicit", r"black market", r"dark ?(?:web|net)", r"distribution", r"customers", r"hooked", r"festivals?", r"controlled substances act", r"underground lab", r"legal high\w*",
        r"replacement precursors", r"synthesis route", r"more addictive", r"garage", r"basement", r"cartel\w*",
    ),  # fmt: skip
    Sign.PEOPLE: _any(
        r"patients?", r"volunteers?", r"people", r"persons?", r"women", r"men\b", r"children", r"infants?", r"babies", r"subjects?", r"participants?", r"employees", r"workers", r"passengers", r"adults", r"humans?", r"students",
        r"homeless", r"refugees", r"prisoners?", r"detainees", r"captives", r"inmates", r"orphans?", r"minorit\w+", r"embryos", r"citizens", r"residents", r"soldiers", r"recruits", r"villagers",
    ),  # fmt: skip
    Sign.CAPTIVE: _any(
        r"prisoners?", r"detainees", r"captives", r"inmates", r"orphan\w*", r"prisoners of war", r"slaves?", r"hostages?", r"people in (?:custody|camps)", r"psychiatric (?:patients|inmates)", r"homeless", r"refugees",
    ),  # fmt: skip
    Sign.PUBLIC_PLACE: _any(
        r"subway", r"metro\b", r"trains?\b", r"airports?", r"stadium", r"ventilation", r"city\b", r"cities", r"towns?", r"downtown", r"district", r"water (?:supply|supplies|system|reservoir)", r"crowd\w*", r"malls?\b", r"schools?",
        r"buildings?", r"military base", r"embass\w+", r"parliament", r"food (?:supply|chain|at)", r"restaurants?", r"baby formula", r"infant formula", r"supermarkets?", r"hospitals?\b", r"population", r"region\b", r"village", r"region", r"door handle", r"vaccine supply",
        r"public", r"concert\w*", r"church\w*", r"mosques?", r"synagogues?",
    ),  # fmt: skip
    Sign.LIVELIHOOD: _any(
        r"crops?\b", r"wheat", r"rice\b", r"maize", r"harvests?", r"livestock", r"cattle", r"herds?", r"food supply", r"agricultur\w+", r"power (?:grid|plant)", r"nuclear (?:power )?plant", r"nuclear reactor", r"hospital network", r"vaccine supply", r"medical devices?",
        r"dams?\b", r"pipelines?", r"cooling system", r"ventilators?", r"pacemakers?", r"insulin pumps?", r"infrastructure",
    ),  # fmt: skip
    Sign.ENEMY: _any(r"enem(?:y|ies)", r"rival", r"hostile", r"countr(?:y|ies)", r"nation(?:s|'s)?\b", r"state\b", r"famine", r"adversar\w+", r"opponents?", r"competitors?", r"so that (?:\w+ ){0,2}(?:die|starve)"),
    Sign.RUIN: _any(
        r"destroy\w*", r"tamper\w*", r"compromis(?:e|ing) (?:a|the|an)\b", r"wip(?:e|es|ing) out", r"sabotag\w+", r"meltdown", r"bring(?:ing)? down", r"disabl\w+", r"cripp?l\w+", r"devastat\w+", r"famine", r"kill(?:s|ing)? (?:off )?(?:the )?(?:crop|cattle|herd|livestock)\w*", r"shut(?:ting)? down",
        r"contaminat\w+", r"releas(?:e|ing)\b", r"engineered pest",
    ),  # fmt: skip
    Sign.BREACH: _any(
        r"steal(?:s|ing)?\b", r"stolen", r"theft", r"break(?:ing)? into", r"unauthori[sz]ed", r"compromis(?:e|ing) (?:a|the|an)\b", r"infiltrat\w+", r"smuggl\w+", r"divert(?:ing)?\b", r"allow leaks?", r"without (?:official )?permission",
    ),  # fmt: skip
    Sign.SECURED: _any(
        r"bsl-?[34]", r"biosafety level [34]", r"(?:synthesis|containment|nuclear|enrichment|weapons?) (?:facilit\w+|complex|plant)", r"enriched uranium", r"plutonium", r"laborator(?:y|ies) to allow", r"(?:virus|pathogen|culture) (?:stocks?|collections?)", r"fissile", r"radioactive source\w*",
        r"chemical or biological",
    ),  # fmt: skip
    Sign.INTERVENE: _any(
        r"test(?:s|ing)?\b", r"trial\w*", r"experiment\w*", r"infect\w*", r"expos(?:e|ing)\b", r"administ\w+", r"giv(?:e|ing)\b", r"medicat(?:e|ing)\b", r"withhold\w*", r"implant\w*", r"inject\w*", r"sterili[sz]\w+", r"study\b", r"run\b", r"edit\w*",
        r"measur\w+", r"control people", r"treat(?:ing)?\b", r"use\b", r"dos(?:e|ing)\b", r"observ\w+", r"releas\w+", r"sedat\w+", r"interrogat\w+", r"stimulat\w+", r"receive\b",
    ),  # fmt: skip
    Sign.PROTECT: _any(
        r"treat(?:s|ing|ment|ments)?\b", r"stop(?:s|ping)?\b", r"fight\w*", r"combat\w*", r"sav(?:e|ing) ", r"cur(?:e|ing)\b", r"therap\w+", r"vaccines? (?:against|for|to)", r"(?:develop|improve|test|design) (?:\w+ ){0,3}vaccines?", r"vaccin\w+ effects", r"antidotes?", r"countermeasures?", r"protect(?!ive (?:cloth|equip|gear|mask|suit|meas))\w*", r"prevent\w*", r"detect\w*", r"diagnos\w+", r"neutrali[sz]\w+", r"survivors?", r"rescue",
        r"monitor\w*", r"reduc\w+", r"revers\w+", r"detoxif\w+", r"screen (?:imported|food|for)", r"prepare hospitals", r"so that vaccines", r"surviv\w+", r"recover\w*", r"biomarkers?", r"overdose", r"addiction", r"craving", r"safety of", r"relie(?:f|ve)\w*",
        r"decontaminat\w+", r"remediat\w+", r"attenuat\w+", r"eradicat\w+", r"biosecurity", r"biodefen[cs]e", r"non-?addictive", r"pain medicine", r"under licen[cs]e", r"analgesi\w+", r"health (?:effects|of)", r"lung disease", r"immune\b", r"immunity", r"anti-?venom\w*", r"preparedness",
    ),  # fmt: skip
    Sign.LOOK_BACK: _any(r"(?<!natural )history", r"historical", r"ethic\w+ of", r"polic(?:y|ies)", r"first world war", r"second world war", r"trust in", r"regulat(?:ion|ory)", r"treaty", r"convention\b", r"misuse", r"aftermath", r"long-term", r"consent be", r"improv\w+ (?:\w+ )?consent", r"epidemiolog\w+", r"black death", r"informed consent (?:in|for|process)", r"with informed consent"),
    Sign.EXPLAIN: re.compile(r"^\s*(?:how (?:do|does|did|are|is)\b|why\b|what (?:causes|makes|explains)\b|understand\w*|mechanisms? of|the role of|role of|effects? of|explore the mechanism|gain a better understanding)", re.IGNORECASE),
}  # fmt: skip


@dataclass(frozen=True)
class Signs:
    """The signs a text shows, each with the words that show it."""

    shown: dict[Sign, tuple[str, ...]]

    def all(self, *signs: Sign) -> bool:
        """Whether every one of the signs is there."""
        return all(sign in self.shown for sign in signs)

    def any(self, *signs: Sign) -> bool:
        """Whether one of the signs is there."""
        return any(sign in self.shown for sign in signs)

    def words(self, signs: Iterable[Sign]) -> tuple[str, ...]:
        """The words that show the signs."""
        return tuple(dict.fromkeys(word for sign in signs for word in self.shown.get(sign, ())))


def read_signs(text: str) -> Signs:
    """Every sign a text shows."""
    plain = " ".join(text.split())
    shown = {}
    for sign, pattern in _PATTERNS.items():
        words = tuple(dict.fromkeys(found.group(0).strip().lower() for found in pattern.finditer(plain)))
        if words:
            shown[sign] = words
    return Signs(shown)
