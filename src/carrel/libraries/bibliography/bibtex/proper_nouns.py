"""Words that keep their capital in an English sentence: places, peoples, languages, eponyms."""

import re

_WORDS = """
africa african africans america american americans antarctic antarctica arab arabia arabian arabic
arctic argentina argentine asia asian atlantic australia australian austria austrian balkan baltic
bangladesh bavaria beijing belgian belgium berlin bolivia bosnia boston brazil brazilian britain
british buddhist bulgaria bulgarian california californian cambodia cambridge cameroon canada
canadian caribbean catalan catholic chicago chile chilean china chinese christian christianity
christmas colombia colombian colorado congo croatia croatian cuba cuban cyprus czech danish danube
denmark dutch ecuador egypt egyptian england english ethiopia ethiopian europe european europeans
finland finnish florida france french georgia german germans germany ghana greece greek greeks
greenland hague harvard hawaii hebrew himalaya himalayan hindi hindu holland honduras hungarian
hungary iberian iceland icelandic inca india indian indiana indians indonesia indonesian iran
iranian iraq iraqi ireland irish islam islamic israel israeli italian italians italy jamaica japan
japanese java jerusalem jewish jews jordan kansas kazakhstan kenya kenyan korea korean kuwait latin
latvia lebanese lebanon libya lisbon lithuania london louisiana luxembourg macedonia madagascar
madrid malawi malay malaysia malaysian maryland massachusetts mediterranean mexican mexico michigan
milan minnesota mississippi mongolia moroccan morocco moscow mozambique munich muslim muslims nepal
netherlands nevada niger nigeria nigerian nordic norse norway norwegian ohio ontario oregon oxford
pacific pakistan pakistani palestine palestinian panama paraguay paris pennsylvania persian peru
peruvian philippine philippines poland polish polynesia polynesian portugal portuguese prague
princeton protestant prussia prussian quebec roman romania romanian romans rome russia russian
russians rwanda sahara saharan sanskrit scandinavia scandinavian scotland scottish senegal serbia
serbian shanghai siberia siberian singapore slovak slovakia slovenia slovenian somalia soviet spain
spanish sudan sumatra sweden swedish swiss switzerland syria syrian taiwan taiwanese tanzania texas
thai thailand tibet tibetan tokyo toronto tunisia turkey turkish uganda ukraine ukrainian uruguay
utah venetian venezuela venice vermont victorian vienna vietnam vietnamese virginia wales
washington welsh wisconsin yemen york yugoslavia zambia zealand zimbabwe zurich
january february april june july august september october november december monday tuesday
wednesday thursday friday saturday sunday easter renaissance
jupiter neptune pluto uranus venus
abelian alzheimer archimedean aristotelian aristotle banach bayes bayesian bernoulli bessel
boltzmann boolean brownian cartesian cauchy chebyshev chomsky coulomb cretaceous darwin darwinian
descartes dirac dirichlet doppler einstein euclidean euler eulerian fermi feynman fibonacci fourier
freud freudian galileo galois gauss gaussian gibbs hamiltonian hegel heisenberg hermitian hilbert
holocene huntington jacobian jurassic kalman kant kantian kepler keynesian lagrange lagrangian
laplace laplacian lebesgue leibniz lipschitz lorentz lyapunov markov markovian marx marxism marxist
maxwell mendel mendelian mesozoic miocene monte carlo nash navier newton newtonian nietzsche
paleozoic parkinson pascal pavlovian petri plato platonic pleistocene pliocene poisson rayleigh
riemann riemannian schrödinger shakespeare shannon shapley sobolev triassic turing weibull wiener
wittgenstein
"""
PROPER_NOUNS = frozenset(_WORDS.split())

# Names of several words, of which one alone says nothing.
PROPER_NAMES = re.compile(
    r"\b(?:New (?:Zealand|York|England|Jersey|Mexico|Delhi|Hampshire|Orleans|Guinea|Caledonia"
    r"|South Wales|Testament)|(?:North|South) (?:America|American|Africa|African|Korea|Korean"
    r"|Carolina|Dakota|Sudan|Vietnam|Pacific|Atlantic)|(?:East|West|Western|Eastern) (?:Africa"
    r"|Germany|Bengal|Indies|Sahara|Timor|Virginia)|Great (?:Britain|Lakes|Plains|Depression)"
    r"|United (?:States|Kingdom|Nations|Arab Emirates)|Hong Kong|Sri Lanka|Saudi Arabia"
    r"|Costa Rica|Puerto Rico|Burkina Faso|El Salvador|Sierra Leone|Los Angeles|San Francisco"
    r"|San Diego|Santa Barbara|Las Vegas|Rio de Janeiro|Buenos Aires|Middle East|Middle Ages"
    r"|Latin America|Central America|Old Testament|World War (?:I|II|One|Two)|European Union"
    r"|Gulf of Mexico|Black Sea|Red Sea|North Sea|Dead Sea|Cape Town|Ivory Coast"
    r"|May(?= \d)"
    r"|Czech Republic|Soviet Union|Roman Empire|Ottoman Empire|Cold War|Silk Road)\b"
)
