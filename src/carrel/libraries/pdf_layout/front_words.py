"""Words of title pages: institutions, places, months, and words that no person's name has."""

from __future__ import annotations


def _as_tuple(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def as_set(words: str) -> frozenset[str]:
    """The words between spaces."""
    return frozenset(words.split())


# Parts of words that only institutions have, in any case form of many languages.
INSTITUTION_STEMS = _as_tuple(
    """
    universi univ. institut istitut laborator hochschul akadem academ fakult facult faculd départ
    depart dipart ministr
    société sociedad straße strasse postfach fachbereich lehrstuhl fachschaft
    hospital klinik hôpital ospedale école escuel escola technolog polytech
    politec forschung research recherche investigac zentrum centre center centro škol uczeln
    университет институт академи факультет кафедр лаборатори центр министерств
    大学 学院 研究 公司 学校 中心 医院 대학 연구 학교
    """
)
INSTITUTION_WORDS = as_set(
    """
    school college dept department division unit group inc ltd gmbh llc corp corporation company
    ag sa bv plc clinic foundation society association council agency bureau office library museum
    observatory museo museu musée museum national federal state institute lab labs program programme
    project projekt team consortium collaboration network initiative press publishing publishers
    verlag bank medical medicine sciences science engineering mathematics statistics biostatistics
    economics physics chemistry biology computing informatics informatik mathematik statistik
    wissenschaft wissenschaften sciences engineers tech eth epfl mit cnrs inria inserm inra csic
    tu fh uc hec ethz rwth lmu ucl lse nyu ucla hku nus kaist iit plz ort zip chapter capítulo
    kapitel chapitre capitolo csiro nasa ibm google microsoft nist cern avenue building campus
    str rue via calle platz floor room suite p.o zip universidad cancer health services systems
    solutions consulting software technische wirtschaftsuniversität chair lehrstuhl seminar
    """
)
GROUP_WORDS = as_set(
    """
    team collaboration consortium developers contributors committee authors investigators
    collaborators initiative network
    """
)
PARTICLES = as_set(
    """
    van de der den von zu zur zum vom la le les du da das do dos del della di d e y el al bin ibn
    ben ter ten te 't op af av und i san santa st st. mac mc vander vanden delle degli dalla lo
    abu bint ould ter
    """
)
MONTHS = as_set(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar februar märz mai juni juli oktober dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    januari februari maart mei augustus
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    """
) - {"may", "august", "jan", "april", "june", "mars", "mai", "marzo", "julio", "abril"}
# Words of titles, notes and headings: a line with one of them is no person's name.
NOT_NAME_WORDS = as_set(
    """
    the of for with from using via this that these our how what why when into and
    abstract summary contents introduction preface chapter section appendix references keywords
    acknowledgements acknowledgments figure table list index glossary overview background methods
    results discussion conclusion conclusions
    version release edition draft revision revised preprint manuscript report technical working
    paper papers article articles journal proceedings conference workshop symposium volume vol
    issue number pages lecture notes note thesis dissertation manual guide handbook
    tutorial reference vignette documentation document introduction user users user's faq howto
    package packages copyright license licence rights reserved open access original review letter
    editorial correction erratum retraction comment reply published received accepted available
    online submitted edited editor editors correspondence corresponding author authors contact
    email e-mail tel fax orcid doi arxiv http https www compiled date monday tuesday wednesday
    thursday friday saturday sunday today
    eine einer und oder für mit über nach une pour dans avec para sobre como
    analysis model models modeling modelling data method system theory application applications
    simulation design algorithm algorithms functions function program programs programming
    computing computation statistical statistics regression time series test tests testing
    estimation learning network networks software source code library
    """
)
PLACES = frozenset(
    place.strip()
    for place in """
    usa, u s a, us, u s, united states, united states of america, uk, u k, united kingdom, england,
    scotland, wales, northern ireland, ireland, germany, deutschland, france, spain, españa, italy,
    italia, portugal, netherlands, nederland, belgium, belgië, belgique, luxembourg, switzerland,
    schweiz, suisse, svizzera, austria, österreich, denmark, danmark, norway, norge, sweden,
    sverige, finland, suomi, iceland, poland, polska, czech republic, czechia, slovakia, slovenia,
    hungary, romania, bulgaria, greece, turkey, türkiye, serbia, croatia, ukraine, russia,
    russian federation, belarus, estonia, latvia, lithuania, israel, palestine, lebanon, syria,
    jordan, iran, iraq, saudi arabia, qatar, kuwait, united arab emirates, uae, egypt, morocco,
    algeria, tunisia, libya, nigeria, kenya, ethiopia, uganda, tanzania, ghana, senegal,
    south africa, india, pakistan, bangladesh, sri lanka, nepal, china, p r china, pr china,
    people's republic of china, hong kong, hong kong sar, macau, taiwan, japan, south korea,
    republic of korea, korea, north korea, mongolia, vietnam, viet nam, thailand, malaysia,
    singapore, indonesia, philippines, australia, new zealand, canada, mexico, méxico, brazil,
    brasil, argentina, chile, colombia, peru, perú, ecuador, venezuela, uruguay, bolivia, cuba,
    costa rica, puerto rico, new york, los angeles, san francisco, san diego, washington dc,
    washington d c, new jersey, new mexico, new haven, new orleans, north carolina, south carolina,
    north dakota, south dakota, west virginia, rhode island, new hampshire, british columbia,
    nova scotia, new south wales, buenos aires, são paulo, rio de janeiro, ann arbor, palo alto,
    santa barbara, santa cruz, salt lake city, kansas city, mexico city, cape town, tel aviv,
    st louis, saint petersburg, st petersburg, den haag, the hague, le mans, la jolla, santa fe,
    los alamos, las vegas, fort collins, college station, chapel hill, baton rouge, el paso,
    san antonio, san jose, virginia tech, georgia tech, texas tech, caltech, 中国, 日本, 北京, 上海
    """.replace("\n", " ").split(",")
)
HAN_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕"
    "丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武"
    "戴莫孔向汤張劉陳楊黃趙吳孫馬羅鄭許韓馮鄧蕭蔣葉蘇魏呂盧鍾譚陸範賈韋鄒賀顧龔錢嚴湯佐藤鈴木高橋田中"
    "伊渡山本中小加吉斎松井清森池橋石前岡村後長藤青坂遠福太西三谷崎安宮内"
) | {"欧阳", "司马", "上官", "诸葛", "司徒", "歐陽", "司馬", "諸葛"}
HANGUL_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염"
)
HAN_NOT_NAMES = (
    "大学",
    "学院",
    "研究",
    "公司",
    "学校",
    "中心",
    "医院",
    "中国",
    "指南",
    "手册",
    "版本",
    "摘要",
    "目录",
    "大學",
    "대학",
    "연구",
    "학교",
    "教授",
    "博士",
    "年",
    "月",
    "系统",
    "方法",
)
