"""Word lists of `spelling`: stems to which a rule applies, words it does not apply to, plurals."""

from __future__ import annotations

# Stems of words in -our; behind others (four, hour, contour, devour) it is not an ending.
_OUR = """
    arb ard arm behavi cand clam col demean enam endeav fav ferv flav glam harb hon hum lab
    misdemean neighb od parl ranc rig rum savi sav splend succ tum val vap vig
"""
OUR = "|".join(_OUR.split())

# Parts of words that are replaced wherever they stand.
_REPLACED_PARTS = """
    aemia=emia aemic=emic haem=hem anaem=anem leukaem=leukem paed=ped gynaec=gynec aetiol=etiol
    faec=fec anaesth=anesth aesthet=esthet palaeo=paleo archaeo=archeo caesarea=cesarea
    caesari=cesari caesium=cesium caecum=cecum caecal=cecal mediaev=mediev encyclopaed=encycloped
    naevus=nevus naevi=nevi ischaem=ischem glycaem=glycem uraem=urem
    orthopaed=orthoped primaev=primev praesid=presid chimaer=chimer
    oesoph=esoph oestr=estr oedem=edem foetu=fetu foetal=fetal rrhoea=rrhea rrhoei=rrhei
    pnoea=pnea pnoei=pnei coelia=celia amoeb=ameb homoeo=homeo diarrhoe=diarrhe
    oenolog=enolog coelom=celom foetid=fetid pharmacopoeia=pharmacopeia
    sulph=sulf sceptic=skeptic mould=mold moult=molt smoulder=smolder plough=plow artefact=artifact
    aluminium=aluminum counsellor=counselor jewellery=jewelry jeweller=jeweler marvellous=marvelous
    woollen=woolen woolly=wooly skilful=skillful wilful=willful enrolment=enrollment
    fulfilment=fulfillment instalment=installment distilment=distillment judgement=judgment
    acknowledgement=acknowledgment abridgement=abridgment carburett=carburet speciality=specialty
    specialities=specialties defenceless=defenseless ageing=aging fibregl=fibergl
    centrepiece=centerpiece
"""

# Stems whose last l Britons double before an ending.
_DOUBLED_L = """
model remodel label relabel mislabel travel cancel signal channel fuel refuel tunnel level panel
dial equal marshal quarrel rival total unravel ravel initial pencil chisel funnel shovel spiral
stencil trial libel enamel counsel bevel duel grovel medal metal pedal petal parcel shrivel
snivel swivel symbol tassel trammel trowel towel tinsel weasel yodel victual barrel apparel cudgel
dishevel devil drivel gravel hovel imperil jewel nickel revel squirrel
unequal prelabel radiolabel immunolabel backpedal disembowel empanel
photolabel
"""
DOUBLED_L = _DOUBLED_L.split()

_OGUE = "anal catal dial homol paral orthol monol prol epil ep xenol ohnol"
OGUE = _OGUE.split()

_YSE = """
anal reanal psychoanal microanal catal paral hydrol electrol dial autol pyrol photol
proteol haemol hemol thermol plasmol
"""
YSE = _YSE.split()

# Words in -ise that are never written -ize, and nouns in -is whose plural is -ises.
_TRUE_ISE = """
    advertise advise anise apprise arise cerise chastise chemise circumcise compromise concise
    demise despise devise excise exercise expertise improvise incise likewise marquise mortise
    otherwise paradise practise precise premise previse promise remise revise rise sunrise
    moonrise supervise surmise televise treatise uprise valise vise merchandise
    pelvise penise irise clitorise metropolise necropolise acropolise trellise portcullise
    tennise cannabise epidermise glottise mantise
"""
TRUE_ISE = frozenset(_TRUE_ISE.split())
TRUE_ISE_ENDINGS = (
    "prise", "wise", "advise", "revise", "devise", "supervise", "improvise", "televise",
    "exercise", "precise", "franchise", "promise", "premise", "advertise", "merchandise",
    "circumcise", "concise", "chastise", "expertise", "disguise",
)  # fmt: skip

_REPLACED_WORDS = """
    analyses=analysis reanalyses=reanalysis metaanalyses=metaanalysis
    grey=gray greys=grays greyish=grayish greyscale=grayscale greyed=grayed
    programme=program programmes=programs
    defence=defense defences=defenses offence=offense offences=offenses pretence=pretense
    licence=license licences=licenses licenced=licensed
    practise=practice practises=practices practised=practiced practising=practicing
    enrol=enroll enrols=enrolls fulfil=fulfill fulfils=fulfills instil=instill instils=instills
    distil=distill distils=distills appal=appall
    tyre=tire tyres=tires kerb=curb kerbs=curbs draught=draft draughts=drafts
    disc=disk discs=disks cosy=cozy pyjamas=pajamas storeys=stories
    learnt=learned burnt=burned dreamt=dreamed orientated=oriented
    amongst=among whilst=while towards=toward afterwards=afterward upwards=upward
    downwards=downward forwards=forward backwards=backward inwards=inward outwards=outward
    sceptre=scepter mitre=miter mitres=miters manoeuvre=maneuver manoeuvres=maneuvers
    manoeuvred=maneuvered manoeuvring=maneuvering manoeuvrability=maneuverability
    gramme=gram grammes=grams aeon=eon aeons=eons
    maths=math aeroplane=airplane aeroplanes=airplanes
    faeces=feces lyse=lyze lysed=lyzed lysing=lyzing
    bacteria=bacterium mitochondria=mitochondrion criteria=criterion phenomena=phenomenon
    hypotheses=hypothesis syntheses=synthesis photosyntheses=photosynthesis theses=thesis
    parentheses=parenthesis prostheses=prosthesis diagnoses=diagnosis prognoses=prognosis
    metastases=metastasis micrometastases=micrometastasis crises=crisis oases=oasis
    neuroses=neurosis psychoses=psychosis thromboses=thrombosis stenoses=stenosis
    anastomoses=anastomosis necroses=necrosis testes=testis
    biopsies=biopsy homeostases=homeostasis
    nuclei=nucleus stimuli=stimulus fungi=fungus loci=locus foci=focus radii=radius
    alveoli=alveolus bronchi=bronchus thrombi=thrombus emboli=embolus bacilli=bacillus
    cocci=coccus streptococci=streptococcus staphylococci=staphylococcus gyri=gyrus sulci=sulcus
    thalami=thalamus hippocampi=hippocampus humeri=humerus villi=villus microvilli=microvillus
    nevi=nevus calculi=calculus uteri=uterus cacti=cactus alumni=alumnus syllabi=syllabus
    tumuli=tumulus glomeruli=glomerulus nucleoli=nucleolus
    genera=genus corpora=corpus sera=serum antisera=antiserum spectra=spectrum ova=ovum
    strata=stratum septa=septum crania=cranium ganglia=ganglion symposia=symposium
    addenda=addendum errata=erratum quanta=quantum curricula=curriculum consortia=consortium
    schemata=schema stigmata=stigma stomata=stoma carcinomata=carcinoma sarcomata=sarcoma
    indices=index matrices=matrix vertices=vertex cortices=cortex vortices=vortex
    appendices=appendix helices=helix apices=apex cervices=cervix varices=varix calices=calix
    larvae=larva vertebrae=vertebra formulae=formula antennae=antenna algae=alga pupae=pupa
    papillae=papilla fistulae=fistula fimbriae=fimbria hyphae=hypha trabeculae=trabecula
    lamellae=lamella cannulae=cannula aortae=aorta microalgae=microalga nebulae=nebula
    mice=mouse lice=louse men=man women=woman children=child grandchildren=grandchild feet=foot
    teeth=tooth geese=goose oxen=ox wolves=wolf knives=knife
    halves=half calves=calf shelves=shelf selves=self hooves=hoof
"""


def _read_pairs(pairs: str) -> dict[str, str]:
    found = (pair.partition("=") for pair in pairs.split())
    return {word: form for word, _, form in found}


REPLACED_PARTS = _read_pairs(_REPLACED_PARTS)
REPLACED_WORDS = _read_pairs(_REPLACED_WORDS)
