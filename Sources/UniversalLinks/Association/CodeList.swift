/// The built-in variables that stand for a code of a registry. The raw values are their names.
enum CodeList: String, Sendable, Hashable {
  /// ISO 3166-1, two upper-case letters.
  case region
  /// ISO 639: two letters, or three where a language has no code of two.
  case lang

  var lengths: [Int] { self == .region ? [2] : [2, 3] }

  func contains(_ code: ArraySlice<Unicode.Scalar>, isCaseSensitive: Bool) -> Bool {
    var text = String(String.UnicodeScalarView(code))
    if !isCaseSensitive { text = self == .region ? text.uppercased() : text.lowercased() }
    return self == .region ? Self.regions.contains(text) : Self.languages.contains(text)
  }

  private static let regions = Set(regionCodes.split(whereSeparator: \.isWhitespace).map(String.init))
  private static let languages = Set(languageCodes.split(whereSeparator: \.isWhitespace).map(String.init))

  private static let regionCodes = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA
    CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
    GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
    KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
    MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
    RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW
    TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """

  private static let languageCodes = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne
    ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu aar abk ace ach
    ada ady afa afh afr ain aka akk ale alg alt amh ang anp apa ara arc arg arn arp art arw asm ast ath aus ava ave
    awa aym aze bad bai bak bal bam ban bas bat bej bel bem ben ber bho bih bik bin bis bla bnt bod bos bra bre btk
    bua bug bul byn cad cai car cat cau ceb cel ces cha chb che chg chk chm chn cho chp chr chu chv chy cmc cnr cop
    cor cos cpe cpf cpp cre crh crp csb cus cym dak dan dar day del den deu dgr din div doi dra dsb dua dum dyu dzo
    efi egy eka ell elx eng enm epo est eus ewe ewo fan fao fas fat fij fil fin fiu fon fra frm fro frr frs fry ful
    fur gaa gay gba gem gez gil gla gle glg glv gmh goh gon gor got grb grc grn gsw guj gwi hai hat hau haw heb her
    hil him hin hit hmn hmo hrv hsb hun hup hye iba ibo ido iii ijo iku ile ilo ina inc ind ine inh ipk ira iro isl
    ita jav jbo jpn jpr jrb kaa kab kac kal kam kan kar kas kat kau kaw kaz kbd kha khi khm kho kik kin kir kmb kok
    kom kon kor kos kpe krc krl kro kru kua kum kur kut lad lah lam lao lat lav lez lim lin lit lol loz ltz lua lub
    lug lui lun luo lus mad mag mah mai mak mal man map mar mas mdf mdr men mga mic min mis mkd mkh mlg mlt mnc mni
    mno moh mon mos mri msa mul mun mus mwl mwr mya myn myv nah nai nap nau nav nbl nde ndo nds nep new nia nic niu
    nld nno nob nog non nor nqo nso nub nwc nya nym nyn nyo nzi oci oji ori orm osa oss ota oto paa pag pal pam pan
    pap pau peo phi phn pli pol pon por pra pro pus que raj rap rar roa roh rom ron run rup rus sad sag sah sai sal
    sam san sas sat scn sco sel sem sga sgn shn sid sin sio sit sla slk slv sma sme smi smj smn smo sms sna snd snk
    sog som son sot spa sqi srd srn srp srr ssa ssw suk sun sus sux swa swe syc syr tah tai tam tat tel tem ter tet
    tgk tgl tha tig tir tiv tkl tlh tli tmh tog ton tpi tsi tsn tso tuk tum tup tur tut tvl twi tyv udm uga uig ukr
    umb und urd uzb vai ven vie vol vot wak wal war was wen wln wol xal xho yao yap yid yor ypk zap zbl zen zgh zha
    zho znd zul zun zxx zza
    """
}
