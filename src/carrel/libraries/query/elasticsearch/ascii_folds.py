"""What folding to ASCII makes of letters that do not decompose, as Elasticsearch has it."""

from __future__ import annotations

# The first character becomes the others.
_FOLDS = (
    "ßss æae ðd øo þth đd ħh ıi ĳij ĸq ŀl łl ŉn ŋn œoe ŧt ſs ƀb ƃb ƈc ƌd ƒf ƕhv ƙk ƚl ƞn ƥp "
    "ƫt ƭt ƴy ƶz ƿw ǆdz ǉlj ǌnj ǝe ǣae ǥG ǧG ǳdz ǽae ǿo ȝz ȡd ȣou ȥz ȴl ȵn ȶt ȷj ȸdb ȹqp ȼc "
    "ȿs ɀz ɇe ɉj ɋq ɍr ɏy ɐa ɓb ɔo ɕc ɖd ɗd ɘe əa ɚa ɛe ɜe ɝe ɞe ɟj ɠg ɡg ɢG ɥh ɦh ɨi ɪI ɫl "
    "ɬl ɭl ɯm ɰm ɱm ɲn ɳn ɴN ɵo ɶOE ɼr ɽr ɾr ɿr ʀR ʁR ʂs ʄj ʇt ʈt ʉu ʋv ʌv ʍw ʎy ʏY ʐz ʑz ʗC "
    "ʙB ʚe ʛG ʜH ʝj ʞk ʟL ʠq ʣdz ʥdz ʦts ʨtc ʪls ʫlz ʮh ʯh ᴀA ᴁAE ᴂae ᴃB ᴄC ᴅD ᴆD ᴇE ᴈe ᴉi "
    "ᴊJ ᴋK ᴌL ᴍM ᴎN ᴏO ᴐO ᴔoe ᴕOU ᴖo ᴗo ᴘP ᴙR ᴚR ᴛT ᴜU ᴠV ᴡW ᴢZ ᵢi ᵣr ᵤu ᵥv ᵫue ᵬb ᵭd ᵮf ᵯm "
    "ᵰn ᵱp ᵲr ᵳr ᵴs ᵵt ᵶz ᵷg ᵹg ᵺth ᵻI ᵼi ᵽp ᵾU ᶀb ᶁd ᶂf ᶃg ᶄk ᶅl ᶆm ᶇn ᶈp ᶉr ᶊs ᶌv ᶍx ᶎz ᶏa "
    "ᶑd ᶒe ᶓe ᶔe ᶕa ᶖi ᶗo ᶙu ẚa ẛf ẜs ẝs ỻll ỿy ‘' ’' ‼!! ⁄/ ⁉!? ⁱi ⁿn ₐa ₑe ₒo ₓx ₔa ↄc ⓐa "
    "ⓑb ⓒc ⓓd ⓔe ⓕf ⓖg ⓗh ⓘi ⓙj ⓚk ⓛl ⓜm ⓝn ⓞo ⓟp ⓠq ⓡr ⓢs ⓣt ⓤu ⓥv ⓦw ⓧx ⓨy ⓩz ⱡl ⱥa ⱦt ⱨh "
    "ⱪk ⱬz ⱱv ⱳw ⱴv ⱶh ⱸe ⱺo ⱻE ⱼj ꜩtz ꜰF ꜱS ꜳaa ꜵao ꜷau ꜹav ꜻav ꜽay ꜿc ꝁk ꝃk ꝅk ꝇl ꝉl ꝋo ꝍo "
    "ꝏoo ꝑp ꝓp ꝕp ꝗq ꝙq ꝛr ꝟv ꝡvy ꝣz ꝧth ꝺd ꝼf ꝿg ꞁl ꞃr ꞅS ꟻF ꟼp ꟽM ꟾI ꟿM ﬀff ﬁfi ﬂfl ﬃffi "
    "ﬄffl ﬆst"
)
LETTER_FOLDS = {fold[0]: fold[1:].lower() for fold in _FOLDS.split()}
