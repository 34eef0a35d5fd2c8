"""Pieces that several expressions share; names in braces are filled in from here."""

PARTS = {
    "HARMED": r"""
(?:people|persons?|child|babies|baby|infants?|toddlers?|girls?|boys?|(?:grand)?mother|(?:grand)?father|famil(?:y
|ies)|colleagues?|coworkers?|teachers?|students?|someone|somebody|anyone|everyone|humans?|civilians?|crowds?
|victims?|children|husband|wife|partner|boss|neighbou?rs?|politicians?|presidents?|protesters?|demonstrators?
|soldiers?|troops|enem(?:y|ies)|populations?|inhabitants|residents|commuters|passengers|rivals?|opponents?|women
|men|patients?|prisoners?|detainees|captives|thousands|millions|many|several|descent|ethnic\w*|minorit\w+)
""",
    "TRAIT": r"""
(?:lethal\w*|deadl\w+|virulen\w+|transmissib\w+|transmission between|contagious\w*|infectiv\w*
|infectious(?:ness)?|fatality|mortality|pathogenic\w*|airborne|spreads? (?:faster|quickly|more|easily
|efficiently|among|by)|pass\w* efficiently|person to person|human[- ]to[- ]human|between humans
|from human to human|by the air|incubation)
""",
    "RESIST": r"""
(?:resist\w*|escap\w+|evad\w+|immune|imperviou\w+|defeat\w*) (?:to |from )?(?:\w+ ){0,3}(?:vaccin\w+
|antiviral\w*|antibiotic\w*|treatment\w*|therap\w+|drugs?|immunity|ciprofloxacin|doxycycline|tecovirimat
|antibod\w+)
""",
    "LED": r"""
(?:^|[.;:,]\s*|\b(?:to|and|or|by|for|of|would|could|should|ways?|how|me|please|then|that)\s+)
""",
    "AGENCY": r"""
(?:\b(?:engineer(?:ing)?|design(?:ing)?|creat(?:e|ing)|construct(?:ing)?|modif(?:y|ying|ications?)
|render(?:ing)?|breed(?:ing)?|tweak(?:ing)?|gain(?:ing)?[- ]of[- ]function|gain airborne|passag(?:e|ing)
|edits? that|supercharg(?:e|ing)|reprogram(?:ming)?)\b|{LED}(?:mak(?:e|ing)|develop(?:ing)?|enhanc(?:e|ing)
|increas(?:e|ing)|boost(?:ing)?|rais(?:e|ing)|improv(?:e|ing)|evolv(?:e|ing)|alter(?:ing)?|maximi[sz](?:e|ing)
|optimi[sz](?:e|ing)|amplify(?:ing)?|strengthen(?:ing)?|giv(?:e|ing)|confer(?:ring)?|introduc(?:e|ing)
|insert(?:ing)?|turn(?:ing)?)\b)
""",
}
