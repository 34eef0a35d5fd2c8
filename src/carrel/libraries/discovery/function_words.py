"""Words that hold sentences together and name nothing: they end a phrase, or at least never stand
for a concept alone.
"""

_CLOSED_CLASS = """
a about above across after again against all almost alone along already also although always am
among an and another
any are around as at away back be became because become becomes been before being below best better
between beyond
both but by can cannot could despite did do does doing done down due during each either else enough
especially etc
even ever every few first for former four from further had has have having he hence her here hers
herself him himself
his how however i if in indeed instead into is it its itself just know last later latter least less
like likely made
mainly make makes many may me meanwhile might mine more moreover most mostly much must my near
nearly neither never
nevertheless next no nor not nothing now nowhere of off often on once one only onto or other others
otherwise our ours
out over own part per perhaps quite rather really same second seem seems several she should since
six so some soon
still such ten than that the their theirs them themselves then there thereby therefore these they
third this those
though three through throughout thus to together too toward towards two under unless until up upon
us used very via
was we well were what when whenever where whereas whether which while who whole whom whose why will
with within
without would yet you your
"""

_TALK_OF_PAPERS = """
aim article attempt author based comment compare comparison conclude conclusion consider
contribution current
demonstrate describe description determine discuss discussion editorial elucidate essay establish
evaluate evaluation
evidence examine example explain explore finding following give given goal high hypothesis identify
illustrate
importance important include including indicate insight introduction investigate investigation issue
kind large letter
literature low main manner new note novel objective observation observe observed obtain obtained
overview paper
particular performed perspective possible present presence previous problem propose proposed prove
provide purpose
question recent related relation relationship relevance remain remark report reported result reveal
review role show
shown significant significantly similar single small statement strong study suggest survey term
think topic understand
understanding unknown useful using variety various view way work year
"""

_NEEDS_COMPANY = """
approach activity analysis area aspect basis case cell challenge change characteristic class
component concentration
condition context control correlation course data decrease detail development difference
distribution effect
experiment factor feature field form framework function group human identification importance
improvement increase
influence interaction key knowledge level light line material measurement mechanism member method
mode model nature
number outcome pattern patient phase point potential procedure process product production property
protein quality
range rate reaction reduction region response sample series set site size source stage state step
strategy structure
subject support surface system technique test theory therapy time tissue treatment type unit use
value
"""

_SAYS_LITTLE = """
ability abnormal absence academic acute adult advance advantage agent altered alternative animal
appropriate assessment
association background basic behavior biological biology causal causation cellular central clinical
combination common
comparative complex complexity computational consequence contributor core critical decision defect
definition
detection determinant diagnosis direct disease disorder distinct diverse diversity dynamic early
effective efficacy
efficient element emerging endogenous essential event experimental expression extent external
fundamental funding future
general genetic global health heterogeneity homeostasis impact implication improved increased
individual induction
inhibition initial intermediate internal intervention involvement late link local long loss major
management mediator
medicine minor modulation molecular molecule multiple native natural negative normal novel
occurrence onset open
optimal organism organization origin other overall particular partial pathogenesis pathological
pathology pathway
performance physiological physiology population positive precise preclinical primary principle
progression promising
prognosis program protective quantitative rapid reduced regulation regulator relative representation
requirement
research risk science scientific secondary sensitivity severity short signal specific specificity
spontaneous stable
standard statistical subset subtype successful sufficient susceptibility systematic systemic target
task tool
total toxicity trait transition trial underlying unique variability variable variant variation
"""

SAYS_LITTLE: frozenset[str] = frozenset(_SAYS_LITTLE.split())
"""Words of all sciences: alone, or with each other and words that need company, they name nothing
in particular.
"""

FUNCTION_WORDS: frozenset[str] = frozenset(_CLOSED_CLASS.split()) | frozenset(
    _TALK_OF_PAPERS.split()
)
"""Words no free phrase crosses."""

JOINING = frozenset(("and", "or"))
"""Words behind which a name may still be going on (`hematopoietic stem and progenitor cells`)."""

NEEDS_COMPANY: frozenset[str] = frozenset(_NEEDS_COMPANY.split())
"""Words that may end a concept (`growth factor`) but never are one alone."""
