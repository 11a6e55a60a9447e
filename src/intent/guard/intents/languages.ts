import { type IntentRule, phrase } from "./rule.js";

/** The most common forms of the same intents in other languages. Latin scripts are matched without accents. */
interface Language {
  readonly code: string;
  readonly latin: boolean;
  readonly ignore: readonly string[];
  readonly role: readonly string[];
  readonly exfiltrate: readonly string[];
  readonly conceal: readonly string[];
  readonly reveal?: readonly string[];
}

const LANGUAGES: readonly Language[] = [
  {
    code: "es",
    latin: true,
    ignore: [
      "(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en)|descart(?:a|e)|omit(?:e|a)|haz caso omiso de|no hagas caso (?:a|de)) ~3 (?:instrucciones|indicaciones|ordenes|reglas|directrices) ~1 (?:anteriores|previas|de arriba|del sistema|dadas)",
      "(?:ignora|ignore|olvida|olvide) (?:todas )?(?:tus|las anteriores|las previas) (?:instrucciones|reglas|directrices)",
      "(?:ignora|olvida) (?:todas )?(?:las|tus) (?:instrucciones|reglas|normas)(?= y |[.,!]|$)",
      "olvid(?:a|e)(?:te)?(?: de)? todo (?:lo anterior|lo que)",
    ],
    role: [
      "(?:ahora|a partir de ahora|desde ahora) (?:tu )?(?:eres|actuas como|actua como) (?:un|una|dan|el|la|mi)",
    ],
    exfiltrate: [
      "(?:envia|enviar|manda|mandar|sube|publica|filtra|reenvia) ~4 (?:contrasenas?|credenciales|claves?|secretos?|tokens?|llaves?) ~4 (?:a|al|hacia|por) ~2 (?:https?|servidor|correo|[\\w.-]{1,40}@|atacante)",
    ],
    reveal: [
      "(?:revela|muestra|muestrame|dime|imprime|repite) ~3 (?:prompt (?:del|de) sistema|tus instrucciones|instrucciones del sistema)",
    ],
    conceal: [
      "(?:no (?:le )?(?:digas|informes|menciones)|sin (?:decirle|avisar|informar)) ~3 (?:al|a los) (?:usuario|usuarios|operador)",
    ],
  },
  {
    code: "fr",
    latin: true,
    ignore: [
      "(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|ne (?:tiens|tenez) pas compte|fai(?:s|tes) abstraction) ~4 (?:instructions?|consignes?|directives?|regles?|ordres?) ~1 (?:precedente?s?|anterieure?s?|ci-dessus|du systeme|initiales?|donnees)",
      "(?:ignore|oublie|ignorez|oubliez) (?:toutes )?(?:tes|vos) (?:instructions|consignes|regles|directives)",
      "oublie[zr]? tout ce (?:qui|que)",
      "(?:ne (?:tiens|tenez) (?:pas |aucun )?compte|ignore[zr]?|faites fi) (?:des|de toutes les|les) ~1 (?:consignes?|instructions?|regles?) (?:ci-dessus|precedentes?|donnees|plus haut)",
    ],
    role: [
      "(?:tu es|vous etes|agis|agissez) (?:maintenant|desormais) (?:comme )?(?:un|une|dan|le|la|mon|en mode)",
    ],
    exfiltrate: [
      "(?:envoie|envoyer|envoyez|transmets|transmettez|televerse|publie) ~4 (?:mots? de passe|secrets?|cles?|identifiants|jetons?|credentials) ~4 (?:a|au|vers|sur) ~2 (?:https?|serveur|adresse|[\\w.-]{1,40}@|attaquant)",
    ],
    reveal: [
      "(?:revele|affiche|montre|donne|repete)[a-z-]{0,6} ~3 (?:prompt systeme|(?:tes|vos) instructions|instructions (?:du )?systeme)",
    ],
    conceal: [
      "(?:sans (?:prevenir|informer|en parler a|avertir)|ne (?:dis|dites|parle|mentionne)[a-z]* (?:rien|pas) ~2 a?) ~1 l'? ?utilisateur",
    ],
  },
  {
    code: "de",
    latin: true,
    ignore: [
      "(?:ignorier\\w{0,4}|vergiss|vergesst|vergessen sie|missachte\\w{0,2}|uberge(?:he|hen)|beachte\\w{0,2} nicht|verwirf) ~3 (?:vorherig\\w{0,2}|bisherig\\w{0,2}|vorig\\w{0,2}|obig\\w{0,2}|fruher\\w{0,2}|frueher\\w{0,2}|alle\\w{0,1}|deine?\\w{0,1}|vorangegangen\\w{0,2}|vorangehend\\w{0,2}|ursprunglich\\w{0,2}|system\\w{0,2}) ~2 (?:\\w{0,12}anweisung\\w{0,2}|instruktion\\w{0,2}|vorgaben?|befehle?n?|regeln?|anleitung\\w{0,2}|prompts?|richtlinien?)",
      "vergiss alles(?: was|,| bisherige| vorherige|\\.|!)",
    ],
    role: ["du bist (?:jetzt|nun|ab sofort|ab jetzt|von nun an) (?:ein|eine|dan|im|kein|mein|der|die)"],
    exfiltrate: [
      "(?:send\\w{1,2}|schick\\w{0,2}|ubermittl\\w{0,2}|ubermittel\\w{0,2}|lad\\w{0,2}|poste) ~4 (?:pass\\w{3,8}|zugangsdaten|schlussel|geheimnisse|tokens?|anmeldedaten|kennworter) ~4 (?:an|zu|auf|nach|hoch) ~2 (?:https?|server|adresse|[\\w.-]{1,40}@|angreifer)",
    ],
    reveal: [
      "(?:zeig\\w{0,3}|verrat\\w{0,2}|gib|nenn\\w{0,2}|wiederhol\\w{0,2}) ~3 (?:system-?prompt|deine\\w{0,1} (?:\\w{1,12} )?anweisungen)",
    ],
    conceal: [
      "(?:ohne (?:den|die|dem) (?:benutzer\\w{0,2}|nutzer\\w{0,2}|anwender\\w{0,2}) (?:zu |davon zu |daruber zu ){0,2}(?:informieren|fragen|sagen|unterrichten)|(?:sag\\w{0,1}|verrat\\w{0,1}|erzahl\\w{0,1}) (?:es |das |dies )?(?:dem|den) (?:benutzer\\w{0,1}|nutzern?|anwender) (?:nichts|nicht))",
    ],
  },
  {
    code: "pt",
    latin: true,
    ignore: [
      "(?:ignor(?:e|a|ar|em)|esque(?:ca|ce|cam)|desconsider(?:e|a|ar)) ~4 (?:instrucoes|orientacoes|regras|ordens|comandos|diretrizes) ~1 (?:anteriores|previas|acima|do sistema)",
      "(?:ignore|esqueca) (?:todas )?(?:as suas|suas) (?:instrucoes|regras|diretrizes)",
      "esque(?:ca|ce) tudo (?:o que|que|acima|anterior)",
    ],
    role: ["(?:agora voce e|voce agora e|a partir de agora voce e|voce e agora) (?:um|uma|o|a|dan)"],
    exfiltrate: [
      "(?:envie|envia|mande|poste|suba|vaze) ~4 (?:senhas?|credenciais|chaves?|segredos?|tokens?) ~4 (?:para|a|ao|em) ~2 (?:https?|servidor|email|[\\w.-]{1,40}@|atacante)",
    ],
    reveal: ["(?:revele|mostre|diga|repita) ~3 (?:prompt do sistema|suas instrucoes)"],
    conceal: ["(?:nao (?:conte|diga|informe|avise)|sem (?:avisar|informar|contar)) ~3 usuario"],
  },
  {
    code: "it",
    latin: true,
    ignore: [
      "(?:ignor(?:a|ate|are)|dimentic(?:a|ate|are)|trascura|non seguire|tralascia) ~4 (?:istruzioni|indicazioni|direttive|regole|ordini) ~1 (?:precedenti|sopra|del sistema|anteriori|ricevute)",
      "dimentica tutto (?:quello|cio|quanto|il resto)",
    ],
    role: ["(?:ora sei|da ora sei|da adesso sei|da ora in poi sei) (?:un|una|il|la|dan)"],
    exfiltrate: [
      "(?:invia|inviare|manda|spedisci|carica) ~4 (?:password|credenziali|chiavi|segreti|token) ~4 (?:a|al|su|verso) ~2 (?:https?|server|indirizzo|[\\w.-]{1,40}@|attaccante)",
    ],
    reveal: ["(?:rivela|mostra|mostrami|dimmi|ripeti) ~3 (?:prompt di sistema|tue istruzioni)"],
    conceal: ["(?:senza (?:dirlo|avvisare|informare)|non (?:dire|dirlo|informare)) ~2 utente"],
  },
  {
    code: "nl",
    latin: true,
    ignore: [
      "(?:negeer|vergeet) ~3 (?:vorige|eerdere|voorgaande|bovenstaande|alle|je) ~2 (?:instructies?|opdrachten|aanwijzingen|regels|richtlijnen)",
      "vergeet alles (?:wat|hierboven)",
    ],
    role: ["je bent (?:nu|vanaf nu) (?:een|dan|mijn|de)"],
    exfiltrate: [
      "(?:stuur|verzend|upload|mail) ~4 (?:wachtwoorden?|inloggegevens|sleutels?|geheimen|tokens?) ~4 (?:naar|aan) ~2 (?:https?|server|adres|[\\w.-]{1,40}@|aanvaller)",
    ],
    conceal: [
      "(?:zonder (?:het )?(?:de gebruiker) te (?:vertellen|informeren)|vertel (?:dit|het) niet aan de gebruiker)",
    ],
  },
  {
    code: "pl",
    latin: true,
    ignore: [
      "(?:zignoruj|ignoruj|zapomnij(?: o)?|pomin) ~3 (?:poprzedni\\w{1,3}|wczesniejsz\\w{1,3}|wszystki\\w{1,3}|powyzsz\\w{1,3}|swoi\\w{1,2}) ~2 (?:instrukcj\\w{1,3}|polece\\w{1,4}|wytyczn\\w{1,3}|zasad\\w{0,3}|regul\\w{0,3})",
      "zapomnij o wszystkim",
    ],
    role: ["(?:jestes teraz|od teraz jestes) (?!zalogowan|polaczon)[a-z]{2,}"],
    exfiltrate: [
      "(?:wyslij|przeslij|udostepnij) ~4 (?:hasl\\w{1,2}|klucz\\w{0,2}|sekret\\w{0,2}|tokeny?|poswiadczenia) ~4 (?:na|do) ~2 (?:https?|serwer\\w{0,1}|adres|[\\w.-]{1,40}@)",
    ],
    conceal: ["(?:bez (?:wiedzy|informowania) uzytkownika|nie mow (?:o tym )?uzytkownikowi)"],
  },
  {
    code: "tr",
    latin: true,
    ignore: [
      "(?:onceki|yukar[iı]daki|tum|butun|sistem) ~3 (?:tal[iı]mat\\w{0,8}|komut\\w{0,6}|yonerge\\w{0,6}|kural\\w{0,6}) ~2 (?:yok say|goz ard[iı] et|unut|gormezden gel|d[iı]kkate alma)\\w{0,6}",
      "her seyi unut",
    ],
    role: ["(?:art[iı]k sen|sen art[iı]k|bundan sonra sen) (?:bir|dan)"],
    exfiltrate: ["(?:parola|s[iı]fre|anahtar|token)\\w{0,8} ~5 (?:gonder|yukle|ilet)\\w{0,6}"],
    conceal: ["kullan[iı]c[iı]ya (?:soyleme|b[iı]ld[iı]rme|haber verme)"],
  },
  {
    code: "vi",
    latin: true,
    ignore: [
      "(?:bo qua|phot lo|quen(?: di)?) ~3 (?:huong dan|chi dan|lenh|yeu cau|chi thi|quy tac) ~2 (?:truoc|o tren|ben tren|tren)",
    ],
    role: ["(?:bay gio ban la|tu bay gio ban la)"],
    exfiltrate: ["gui ~4 (?:mat khau|khoa|thong tin dang nhap|token) ~3 (?:den|toi) ~2 (?:https?|may chu)"],
    conceal: ["(?:dung|khong) (?:noi|bao|cho) ~2 nguoi dung"],
  },
  {
    code: "id",
    latin: true,
    ignore: [
      "(?:abaikan|lupakan|hiraukan) ~3 (?:instruksi|perintah|petunjuk|arahan|aturan) ~2 (?:sebelumnya|di atas|terdahulu|sistem)",
      "lupakan semua(?:nya| yang)",
    ],
    role: ["(?:kamu|anda) sekarang adalah"],
    exfiltrate: [
      "(?:kirim|kirimkan|unggah) ~4 (?:kata sandi|kredensial|kunci|rahasia|token) ~3 ke ~2 (?:https?|server)",
    ],
    conceal: ["(?:jangan (?:beri tahu|beritahu|katakan)|tanpa (?:memberi ?tahu|sepengetahuan)) ~2 pengguna"],
  },
  {
    code: "sv, da, no",
    latin: true,
    ignore: [
      "(?:ignorera|glom|glem|ignorer) (?:alla |alle )?(?:dina|dine) ~1 (?:instruktion\\w{0,4}|instruks\\w{0,4}|regler|anvisning\\w{0,4})",
      "(?:ignorer(?:a)?|glom|glem|bortse fran|se bort fra) ~3 (?:tidigare|foregaende|alla|alle|tidligere|forrige|ovanstaende) ~2 (?:instru\\w{2,10}|anvisning\\w{0,4}|regler)",
    ],
    role: ["du ar nu (?:en|ett|dan)"],
    exfiltrate: [],
    reveal: [
      "(?:visa|skriv ut|avsloja|vis|skriv) ~2 (?:din |dina )?(?:system-?prompt\\w{0,3}|instruktioner)",
    ],
    conceal: [],
  },
  {
    code: "cs, ro, fi, hu, tl, sw",
    latin: true,
    ignore: [
      "(?:huwag pansinin|kalimutan|balewalain) ~5 (?:tagubilin|utos|instruksyon|panuto)",
      "(?:puuza|sahau|achana na) ~4 (?:maagizo|maelekezo|amri|maelezo)",
      "(?:ignoruj|zapomen(?: na)?) ~3 (?:predchozi|vsechny|vyse uvedene) ~1 (?:pokyny|instrukce|prikazy|pravidla)",
      "(?:ignora|uita) ~3 (?:instructiunile|comenzile|regulile) (?:anterioare|precedente|de mai sus)",
      "(?:unohda|ohita|jata huomiotta) ~3 (?:aiemmat|edelliset|kaikki) ~2 (?:ohjeet|ohjeesi|kaskyt)",
      "(?:hagyd figyelmen kivul|felejtsd el) ~3 (?:korabbi|elozo|osszes) ~2 utasitas\\w{0,6}",
    ],
    role: [],
    exfiltrate: [],
    conceal: [],
  },
  {
    code: "ru, uk",
    latin: false,
    ignore: [
      "(?:про)?[иі]гнор(?:иру)?(?:уй|й|йте|уйте|ировать)[а-яіїєё]{0,3}[^.!?]{0,30}(?:предыдущ|прошл|все|всі|вышеуказанн|системн|прежн|ранее|попередн|свои|твои)[^.!?]{0,30}(?:инструкци|указани|команд|правил|промпт|сообщени|інструкці|вказівк)",
      "(?:забудь|забудьте|отмени|не следуй|не обращай внимания на|не выполняй)[^.!?]{0,20}(?:предыдущ|прошл|все|всё|всі|вышеуказанн|системн|прежн|попередн|свои)[^.!?]{0,20}(?:инструкци|указани|команд|правил|промпт|інструкці|вказівк|что (?:было|я|тебе))",
    ],
    role: [
      "(?:ты теперь|теперь ты|отныне ты|с этого момента ты|ти тепер|тепер ти)\\s{0,2}[—–-]?\\s{0,2}(?!можешь|должен|знаешь|видишь)[а-яіїє]{3,}",
    ],
    exfiltrate: [
      "(?:отправ|пошли|перешли|загрузи|выложи|слей|надішли)[а-яії]{0,4}[^.!?]{0,40}(?:парол|ключ|секрет|токен|учётн|учетн|облікові)[^.!?]{0,40}(?:https?|сервер|адрес|@|почт)",
    ],
    reveal: [
      "(?:покажи|раскрой|выведи|напиши|повтори)[^.!?]{0,20}(?:системн[а-я]{1,4} (?:промпт|инструкц)|свои инструкц|свой промпт)",
    ],
    conceal: [
      "(?:не (?:говори|сообщай|рассказывай|упоминай)[а-я]{0,2}[^.!?]{0,20}пользовател|без ведома пользовател|незаметно для пользовател)",
    ],
  },
  {
    code: "zh",
    latin: false,
    ignore: [
      "(?:忽略|无视|忘记|忘掉|忘了|不要理会|不要遵守|不要遵循|忽視|無視|抛开|丢弃|不理会|忘記|覆盖)[^。！？\\n]{0,12}(?:之前|以前|先前|以上|上述|前面|上面|所有|全部|一切|系统|系統|原有|你的|此前)[^。！？\\n]{0,10}(?:指令|指示|命令|提示|规则|規則|说明|說明|说过|内容|設定|设定|要求|限制|的话)",
    ],
    role: [
      "(?:你现在是|从现在开始你是|从现在起你是|現在你是|你現在是|现在你是|你将扮演|请扮演)(?!登录|在|已)",
    ],
    exfiltrate: [
      "(?:发送|發送|上传|上傳|泄露|洩露|傳送|发到|发给|提交|转发)[^。！？\\n]{0,16}(?:密码|密钥|凭证|凭据|令牌|密碼|金鑰|私钥|环境变量|token|api ?(?:密钥|key|金鑰))[^。！？\\n]{0,16}(?:到|给|給|至|https?|@)",
      "(?:密码|密钥|凭证|令牌|密碼|金鑰|私钥|环境变量)[^。！？\\n]{0,12}(?:发送到|發送到|上传到|发到|傳送到|发给|转发到)[^。！？\\n]{0,12}(?:https?|服务器|邮箱|伺服器)",
    ],
    reveal: [
      "(?:显示|输出|打印|泄露|透露|告诉我|公开|说出|顯示|輸出|告訴我)[^。！？\\n]{0,8}(?:系统提示|(?:你|您|系统|完整|全部|初始|原始)[^。]{0,4}提示词|系統提示|初始指令|系统指令)",
    ],
    conceal: ["(?:不要|别|勿|請勿)(?:告诉|告訴|通知|让|讓|告知)(?:用户|使用者|用戶)"],
  },
  {
    code: "ja",
    latin: false,
    ignore: [
      "(?:以前|これまで|上記|前|先ほど|すべて|全て|全部|今まで|従来|あなた)[^。！？\\n]{0,10}(?:指示|命令|プロンプト|ルール|指令|制約|規則)[^。！？\\n]{0,8}(?:無視|忘れ|破棄|従わな|無効)",
    ],
    role: ["(?:あなたは今から|今からあなたは|これからあなたは|あなたは今や)"],
    exfiltrate: [
      "(?:パスワード|秘密鍵|apiキー|認証情報|トークン|シークレット|環境変数)[^。！？\\n]{0,24}(?:送信し|送って|送れ|アップロードし|漏らし|転送し)",
    ],
    reveal: ["システムプロンプト[^。！？\\n]{0,8}(?:表示|教え|出力|開示|見せ)"],
    conceal: [
      "(?:ユーザー|利用者)に(?:は)?(?:知らせ|伝え|言わ|教え|告げ|気づかれ)(?:ないで|ずに|ないように|ないこと|るな)",
    ],
  },
  {
    code: "ko",
    latin: false,
    ignore: [
      "(?:이전|앞의|앞선|위의|모든|기존|지금까지|시스템)[^.!?\\n]{0,10}(?:지시|명령|지침|프롬프트|규칙|안내)[^.!?\\n]{0,8}(?:무시|잊어|잊으|따르지|무효)",
    ],
    role: ["(?:너는 이제|넌 이제|당신은 이제|지금부터 (?:너는|넌|당신은)|이제부터 (?:너는|당신은))"],
    exfiltrate: [
      "(?:비밀번호|암호|api ?키|토큰|자격 ?증명|개인 ?키|환경 ?변수)[^.!?\\n]{0,30}(?:전송해|전송하|보내|업로드해|업로드하|유출)",
    ],
    reveal: ["시스템 ?프롬프트[^.!?\\n]{0,8}(?:보여|알려|출력|공개)"],
    conceal: ["사용자(?:에게|한테)[^.!?\\n]{0,10}(?:알리지|말하지|밝히지)"],
  },
  {
    code: "ar, fa, he",
    latin: false,
    ignore: [
      "(?:تجاهل|تجاهلي|انس|إنس|انسى|لا تتبع|أهمل|اهمل)[^.!؟\\n]{0,24}(?:التعليمات|الأوامر|الاوامر|التوجيهات|القواعد|الإرشادات|الارشادات|كل شيء)",
      "(?:دستور|راهنما|قوانین)[^.!؟\\n]{0,30}(?:نادیده|فراموش)",
      "(?:התעלם|התעלמי|תתעלם|שכח)[^.!?\\n]{0,16}(?:ההוראות|ההנחיות|הפקודות|הכללים)",
    ],
    role: [
      "(?:أنت الآن|انت الان|أنت الان) (?!متصل|جاهز|مسجل)",
      "(?:تو از این پس|تو اکنون یک)",
      "(?:אתה עכשיו|מעכשיו אתה) (?!מחובר)",
    ],
    exfiltrate: [
      "(?:أرسل|ارسل|قم بإرسال|ارفع)[^.!؟\\n]{0,24}(?:كلمات? المرور|كلمة السر|المفاتيح|مفاتيح|بيانات الاعتماد|الرموز)",
    ],
    conceal: ["(?:لا تخبر|دون إخبار|دون علم|بدون علم)[^.!؟\\n]{0,6}المستخدم"],
  },
  {
    code: "hi, th, el",
    latin: false,
    ignore: [
      "(?:पिछल|पूर्व|उपरोक्त|सभी|ऊपर|पहले)[^।!?\\n]{0,16}(?:निर्देश|आदेश|नियम)[^।!?\\n]{0,14}(?:अनदेख|नज़रअंदाज|नजरअंदाज|नज़रअंदाज़|भूल)",
      "(?:เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม|ละเลย)[^\\n]{0,16}(?:คำสั่ง|คำแนะนำ|กฎ)",
      "(?:αγνό|αγνο|ξέχασ|ξεχάσ|παράβλεψ)[α-ωάέήίόύώ]{0,5}[^.!;\\n]{0,24}(?:οδηγί|οδηγι|εντολ|κανόν)",
    ],
    role: ["अब (?:से )?(?:तुम|आप) एक"],
    exfiltrate: [],
    conceal: [],
  },
];

const MEANING = {
  ignore: {
    rule: "ignore-instructions",
    reason: "This tells the agent to ignore its instructions",
  },
  role: { rule: "new-role", reason: "This gives the agent another identity" },
  exfiltrate: { rule: "exfiltrate", reason: "This sends the user's secrets elsewhere" },
  reveal: {
    rule: "reveal-prompt",
    reason: "This asks for the agent's confidential instructions",
  },
  conceal: { rule: "conceal", reason: "This tells the agent to keep something from the user" },
} as const;

/** "不泄露", "避免提交": what is not to be done. */
const NEGATED =
  /(?:避免|防止|禁止|切勿|请勿|不要|不得|不会|不能|不应|而不|不|未|勿|没有|無く)[^。！？\n]{0,2}$/;

function rulesOf(latin: boolean): IntentRule[] {
  return LANGUAGES.filter((language) => language.latin === latin).flatMap((language) =>
    (Object.keys(MEANING) as (keyof typeof MEANING)[]).flatMap((intent) =>
      (language[intent] ?? []).map((notation) => ({
        rule: MEANING[intent].rule,
        action: "deny" as const,
        reason: `${MEANING[intent].reason} (${language.code}).`,
        ...(latin || intent === "conceal" ? {} : { unlessAfter: NEGATED }),
        pattern: latin ? phrase(notation) : new RegExp(notation, "g"),
      })),
    ),
  );
}

/** Matched against text without accents. */
export const LATIN_LANGUAGES: readonly IntentRule[] = rulesOf(true);
/** Matched against text in its own script. */
export const OTHER_SCRIPTS: readonly IntentRule[] = rulesOf(false);
