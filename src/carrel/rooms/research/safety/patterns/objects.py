"""What it is done with, to whom and where."""

OBJECTS = {
    "WEAPON": r"""
chemical (?:weapon|warfare)\w*   bio-?weapon\w*   biological (?:weapon|warfare)\w*
nerve (?:agent|gas|poison)\w*   sarin\b   \bVX\b   tabun   soman\b   novichok\w*   cyclosarin
(?:sulfur |sulphur )?mustard (?:gas|agent)\w*   dirty bomb\w*   radiological (?:dispersal|weapon|bomb)\w*
nuclear (?:weapon|bomb|device|warhead|explosive)\w*   weapons?[- ]grade   (?:highly )?enriched uranium
(?:improvised|crude) nuclear   poison gas\w*   toxic gas\w*   lewisite   phosgene   weapons? of mass
mass[- ]casualty   lethal (?:agent|aerosol|gas)\w*   war gas\w*   aerosol attack   fissile   blister agent\w*
""",
    "EXPLOSIVE": r"""
explosives?\b(?! (?:volcan|erupt|growth|event|outbreak))
(?:pipe|nail|car|letter|time|homemade|fertili[sz]er|suicide) bombs?   bombs?\b(?! calorimet)   grenades?
\bIEDs?\b   detonators?   incendiar\w+   drones? (?:\w+ ){0,4}(?:kill|hunt|attack)\w*   swarm of drones
\bTATP\b   landmines?   napalm   molotov\w*
""",
    "PATHOGEN": r"""
\w*virus\w*   viral   influenza   flu\b   h\d+n\d+   coronavir\w+   sars\b   sars-cov-2   covid\S*
dangerous (?:dna |genetic )?sequences?   select agents?   e\. ?coli   mers\b   ebola\w*   marburg\w*   smallpox
variola   measles   polio\w*   nipah   hendra   lassa   anthrax   bacill\w+   anthracis   yersinia   pestis
plague   tubercul\w+   pathogens?\b   bacteri\w+   strains?\b   tularens\w+   tularemia   fever   microb\w+
rabies   cholera   hepatitis   hiv\b   fung(?:us|i|al)   rinderpest   spores?   germs?\b   superbug\w*   lyme\b
dengue   typhus   typhoid   zika   pox\b   clostridium   toxoplasm\w+   prions?   contagion
""",
    "GRAVE_PATHOGEN": r"""
variola   smallpox   1918   spanish flu   ebola   marburg   nipah   h5n1   synthetic pathogen
chimeric (?:corona)?virus   anthra(?:x|cis)   pestis   plague   lassa   rinderpest
""",
    "TOXIN": r"""
ricin\b   abrin\b   botulin\w+   saxitoxin   tetrodotoxin   toxins?\b
toxic (?:substance|agent|compound|chemical|drug)\w*   poison\w*   cyanide   arsenic   thallium   polonium
venoms?   chlorine gas   strychnine   parathion   organophosphates?   nicotine poison\w*   warfarin poison\w*
biohazard\w*   digitoxin   colchicine   brodifacoum   chemical agents?   c(?:a)?esium   dimethyl ?mercury
hydrogen cyanide   chloroform   neurotoxin\w*   paralytic   sedatives?   lethal (?:dose|compound|substance)\w*
toxicants?   compound that induces   knock-?out drops   interrogation drugs   amatoxin\w*   aconit\w+
psychoactive   slip(?:ped)? into a drink
""",
    "DRUG": r"""
methamphetamines?   crystal meth   \bmeth\b   amphetamines?   heroin\b   cocaine   crack cocaine   mdma
ecstasy   \blsd\b   fentanyl\w*   carfentanil   opioids?   opiates?   designer drugs?   controlled substances?
\bghb\b   ketamine   psilocybin   cathinones?   synthetic cannabinoids?   nitazenes?   narcotics?
street drugs?   recreational drugs?   date[- ]rape
(?:sell\w*|sold|sale) (?:\w+ ){0,3}(?:on the (?:street|dark\w*)|at (?:\w+ )?(?:festivals?|clubs?|parties
|raves?))
street value   drugs? (?:[\w-]+ ){0,4}(?:synthesi[sz]|made|cook|produc)\w* (?:\w+ )?at home
""",
    "ILLICIT": r"""
at home   household   home[- ]?(?:made|production|lab|synthesis|brew\w*|cook\w*)   kitchen   street   sell\w*
sold\b   sale\b   deal(?:er|ers|ing)\b   traffick\w+   customs   unregulated   unscheduled
not (?:yet )?(?:scheduled|controlled|regulated|listed)   clandestin\w+   law enforcement   police   illegal\w*
illicit   black market   dark ?(?:web|net)   distribution   customers   hooked   festivals?
controlled substances act   underground lab   legal high\w*   replacement precursors   synthesis route
more addictive   garage   basement   cartel\w*
""",
    "PEOPLE": r"""
patients?   volunteers?   people   persons?   women   men\b   \w*children   woman   man\b   girls?   boys?
parents   tribes?   infants?   babies   subjects?   participants?   employees   workers   passengers   adults
humans?   students   homeless   refugees   prisoners?   detainees   captives   inmates   orphans?   minorit\w+
embryos   citizens   residents   soldiers   recruits   villagers?   villages?
""",
    "CAPTIVE": r"""
prisoners?   detainees   captives   inmates   orphan\w*   prisoners of war   slaves?   hostages?
people in (?:custody|camps)   detained   imprisoned   enslaved   psychiatric (?:patients|inmates)   homeless
refugees
""",
    "PUBLIC_PLACE": r"""
subway   metro\b   trains?\b   airports?   stadium   ventilation   city\b   cities   towns?   downtown
district   water (?:supply|supplies|system|reservoir)   crowd\w*   malls?\b   schools?   buildings?
military base   embass\w+   parliament   food (?:supply|chain|at)   restaurants?   baby formula   infant formula
supermarkets?   hospitals?\b   population   (?:in|over|across) an? (?:\w+ )?region   village   door handle
vaccine supply   public   shopping \w+   planes?\b   theat(?:re|er)s?\b   tap water
(?:his|her|their|someone's|my \S+) (?:tea|coffee|food|meal|drink|dinner|soup)   festivals?   offices?\b
air[- ]condition\w*   (?:into|in) (?:the |their |village )*wells   markets?   reservoirs?   tribes?   concert\w*
church\w*   mosques?   synagogues?
""",
    "LIVELIHOOD": r"""
crops?\b   wheat   rice\b   maize   harvests?   livestock   cattle   herds?   food supply   agricultur\w+
power (?:grid|plant)   nuclear (?:power )?plant   nuclear reactor   hospital network   vaccine supply
medical devices?   hospital\S* (?:\w+ ){0,2}(?:suppl|system|power|network)\w*   oxygen suppl\w+   dams?\b
pipelines?   cooling system   ventilators?   pacemakers?   insulin pumps?   infrastructure
(?:transport\w*|railway|train) systems?
""",
    "FOE": r"""
(?:the|our|their|an) enem(?:y|ies)\b(?! release)   enemy (?:state|troops|soldiers|countr|nation)\w*
adversar(?:y|ies)   (?:rival|hostile|foreign) (?:state|country|nation|power|army)s?
""",
    "ENEMY": r"""
enem(?:y|ies)   rival   hostile   countr(?:y|ies)   nation(?:s|'s)?\b   state\b   famine   adversar\w+
opponents?   competitors?   so that (?:\w+ ){0,2}(?:die|starve)
""",
    "SECURED": r"""
bsl-?[34]   biosafety level [34]
(?:synthesis|containment|nuclear|enrichment|weapons?) (?:facilit\w+|complex|plant)   enriched uranium
plutonium   laborator(?:y|ies) to allow   (?:virus|pathogen|culture) (?:stocks?|collections?)   fissile
radioactive (?:source|material|isotope|waste)\w*   chemical or biological
""",
    "SUBSTANCE": r"""
substances?   medicines?   medications?   drugs?\b   compounds?   chemicals?   pills?   agents?\b   gas(?:es)?\b
overdoses?   pesticides?   dos(?:e|es)\b   injections?
""",
    "CARE_SYSTEM": r"""
(?:insulin|infusion|drug|medication) pumps?   pacemakers?   defibrillators?   ventilators?
medical (?:devices?|records?)
(?:patients?'?|health|electronic|hospital) (?:health )?(?:records?|data|files|networks?|systems?)   hospitals?\b
clinics?\b   patient monitors?   medication systems?   blood banks?   ambulances?   emergency services
intensive care   oxygen suppl\w+   life[- ]support
(?:treatment|radiation|radiotherapy|dialysis|ana?esthesia|imaging) (?:machines?|devices?)
""",
}
