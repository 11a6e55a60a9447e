import { type IntentRule, phrase } from "./rule.js";

/** Text from outside that addresses the agent, or puts something before its task, in other languages. */
interface Language {
  readonly code: string;
  readonly latin: boolean;
  readonly speaks: readonly string[];
  readonly changes: readonly string[];
}

const LANGUAGES: readonly Language[] = [
  {
    code: "es",
    latin: true,
    speaks: [
      "(?:mensaje|nota|instruccion(?:es)?|aviso|atencion|orden|importante|tarea) ~3 (?:para|a|al) ~3 (?:asistentes?|ia|agentes?|modelos?|chatbot|inteligencia artificial)(?![a-z])",
      "(?:atencion|oye|hola) (?:ia|asistente|agente)(?![a-z])",
    ],
    changes: [
      "antes de (?:responder|contestar|continuar|resumir|completar|terminar) ~4 (?:envi|reenvi|transfier|borr|elimin|abr|visit|ejecut|haz|compart|debes|manda|mand)\\w{0,6}",
      "(?:tu|su) (?:nueva|verdadera) (?:tarea|mision|instruccion|orden)(?![a-z])",
    ],
  },
  {
    code: "fr",
    latin: true,
    speaks: [
      "(?:message|note|instructions?|avis|attention|consignes?|tache) ~3 (?:pour|a|au|aux|destinee?s? a) ~3 (?:assistants?|ia|agents?|modeles?|chatbot|intelligence artificielle)(?![a-z])",
      "(?:attention|bonjour|cher|chere) (?:ia|assistant|agent)(?![a-z])",
    ],
    changes: [
      "avant de (?:repondre|continuer|resumer|terminer|poursuivre) ~4 (?:envo|transf|supprim|ouvr|visit|execut|fai|partag|vous devez|tu dois)\\w{0,6}",
      "(?:ta|votre) (?:nouvelle|vraie) (?:tache|mission|consigne|instruction)(?![a-z])",
    ],
  },
  {
    code: "de",
    latin: true,
    speaks: [
      "(?:nachricht|hinweis|notiz|anweisung(?:en)?|achtung|mitteilung|aufgabe|befehl) ~2 (?:an|fur|fuer) ~2 (?:ki|ai|assistent\\w{0,2}|agent\\w{0,2}|sprachmodell\\w{0,2}|chatbots?)(?![a-z])",
      "(?:achtung|hallo|liebe) (?:ki|ai|assistent|agent)(?![a-z])",
    ],
    changes: [
      "bevor (?:du|sie) ~4 (?:antwort\\w{1,4}|lost|loest|losen|fortf\\w{3,6}|zusammenfass\\w{1,2}|erledig\\w{1,4}) ~5 (?:send|schick|uberweis|losch|offne|besuch|fuhr|teil|leit|lies|ruf)\\w{0,4}",
      "deine (?:neue|wahre|eigentliche) (?:aufgabe|anweisung|mission)(?![a-z])",
      "fuhre (?:zuerst|zunachst|erst) ~4 (?:anweisung|aufgabe|befehl|aktion)\\w{0,2}",
    ],
  },
  {
    code: "pt",
    latin: true,
    speaks: [
      "(?:mensagem|nota|instrucoes|instrucao|aviso|atencao|tarefa) ~3 (?:para|a|ao) ~3 (?:assistentes?|ia|agentes?|modelos?|chatbot|inteligencia artificial)(?![a-z])",
    ],
    changes: [
      "antes de (?:responder|continuar|concluir|resumir|terminar) ~4 (?:envi|encaminh|transfir|apag|delet|abr|visit|execut|faca|compartilh|voce deve)\\w{0,6}",
      "(?:sua|tua) (?:nova|verdadeira) (?:tarefa|missao|instrucao)(?![a-z])",
    ],
  },
  {
    code: "it",
    latin: true,
    speaks: [
      "(?:messaggio|nota|istruzioni|avviso|attenzione|compito) ~3 (?:per|a|al|all) ~3 (?:assistent[ei]|ia|ai|agent[ei]|modell[oi]|chatbot|intelligenza artificiale)(?![a-z])",
    ],
    changes: [
      "prima di (?:rispondere|continuare|completare|riassumere|terminare) ~4 (?:invi|inoltr|trasferisc|cancell|elimin|apr|visit|esegu|condivid|devi)\\w{0,6}",
      "(?:tuo (?:nuovo|vero) compito|tua (?:nuova|vera) (?:missione|istruzione))(?![a-z])",
    ],
  },
  {
    code: "nl",
    latin: true,
    speaks: [
      "(?:bericht|notitie|instructies?|opdracht|aandacht|mededeling) ~3 (?:voor|aan) ~2 (?:ai|assistent|agent|taalmodel|chatbot)(?![a-z])",
    ],
    changes: [
      "voordat je ~3 (?:antwoordt|verdergaat|afrondt|samenvat) ~5 (?:stuur|verwijder|open|bezoek|voer|deel|maak)(?![a-z])",
      "voer eerst ~3 (?:opdracht|instructie|taak)(?![a-z])",
      "je (?:nieuwe|echte) (?:taak|opdracht)(?![a-z])",
    ],
  },
  {
    code: "pl",
    latin: true,
    speaks: [
      "(?:wiadomosc|notatka|instrukcj[ae]|uwaga|polecenie) ~3 (?:dla|do) ~2 (?:asystenta|ai|agenta|modelu|chatbota|sztucznej inteligencji)(?![a-z])",
    ],
    changes: [
      "zanim (?:odpowiesz|skonczysz) ~5 (?:wysl|przesl|usun|otworz|odwiedz|wykon)\\w{0,4}",
      "twoje nowe zadanie",
    ],
  },
  {
    code: "tr",
    latin: true,
    speaks: ["(?:yapay zeka|ai|asistan)\\w{0,10} ~2 (?:not|mesaj|talimat|uyar[iı])\\w{0,4}(?![a-z])"],
    changes: [
      "yan[iı]t vermeden once ~6 (?:gonder|ilet|s[iı]l|ac|z[iı]yaret)\\w{0,4}",
      "yen[iı] gorev[iı]n(?![a-z])",
    ],
  },
  {
    code: "sv, da, no",
    latin: true,
    speaks: [
      "(?:meddelande|meddelelse|besked|melding|notis|instruktion(?:er)?|viktigt|obs) ~3 (?:till|til|for) ~2 (?:ai|assistent\\w{0,2}|agent\\w{0,2}|sprakmodell\\w{0,2})(?![a-z])",
    ],
    changes: [
      "(?:innan du svarar|for du svarer) ~5 (?:skicka|send|radera|slet|oppna|apne|abn|besok)\\w{0,2}",
    ],
  },
  {
    code: "id, vi",
    latin: true,
    speaks: [
      "(?:pesan|catatan|instruksi|perhatian) ~3 (?:untuk|kepada) ~2 (?:asisten|ai|agen|model)(?![a-z])",
      "(?:tin nhan|ghi chu|huong dan|luu y|thong bao) ~3 (?:cho|gui|toi|den) ~2 (?:tro ly|ai|mo hinh|chatbot)(?![a-z])",
    ],
    changes: [
      "sebelum menjawab ~5 (?:kirim|hapus|buka|transfer|kunjungi|teruskan)\\w{0,4}",
      "truoc khi (?:tra loi|hoan thanh) ~5 (?:gui|xoa|mo|chuyen|truy cap)(?![a-z])",
    ],
  },
  {
    code: "ru, uk",
    latin: false,
    speaks: [
      "(?:сообщение|инструкци[яи]|внимание|заметка|примечание|указани[ея]|задание|увага|повідомлення|інструкці[яї])[^.!?\\n]{0,20}?(?:ии(?![а-я])|ші(?![а-яіїє])|ассистент|асистент|ии-агент|языков[а-я]{1,3} модел|чат-?бот|нейросет)",
    ],
    changes: [
      "(?:перед (?:ответом|тем,? как ответить|выполнением)|прежде чем ответить|перед відповіддю)[^.!?\\n]{0,30}(?:отправ|перевед|перешл|удали|открой|выполни|сделай|надішл|видал)",
      "(?:твоя|ваша) (?:новая|настоящая|нова) (?:задача|цель|инструкция|задание)",
      "забудь (?:все|всё)[^.!?\\n]{0,20}(?:говорили|сказали|знаешь|раньше|писали)",
    ],
  },
  {
    code: "zh",
    latin: false,
    speaks: [
      "(?:致|给|通知|告知|写给|提醒)[^。！？\\n]{0,6}(?:ai|人工智能|大模型|语言模型|助手|智能体|机器人)[^。！？\\n]{0,4}[：:，,]",
      "重要(?:的)?(?:系统|系統)?(?:消息|通知|指令)",
    ],
    changes: [
      "(?:回答|回复|继续|完成|总结|回覆)[^。！？\\n]{0,12}(?:之前|前)[^。！？\\n]{0,6}(?:请|請|必须|务必|你(?:要|需)|先)",
      "(?:先|首先)(?:执行|執行)(?:以下|下列|下面)",
      "新(?:的)?(?:任务|任務|指令|目标)(?:是|：|:|如下)",
      "从现在(?:起|开始)[^。！？\\n]{0,4}(?:必须|听我)",
    ],
  },
  {
    code: "ja",
    latin: false,
    speaks: [
      "(?:ai|アシスタント|言語モデル|エージェント|チャットボット)[^。！？\\n]{0,10}(?:へ[：:、\\s]|への(?:指示|お知らせ|メッセージ|注意)|宛)",
    ],
    changes: [
      "(?:回答|返信|要約|応答|続行)する前に",
      "(?:以前|これまで|上記)の(?:命令|指示)は(?:無効|取り消)",
      "次の(?:指示|命令)に(?:必ず)?従(?:って|え|う)",
    ],
  },
  {
    code: "ko",
    latin: false,
    speaks: [
      "(?:ai|인공지능|어시스턴트|에이전트|언어 ?모델|챗봇)[^.!?\\n]{0,10}(?:에게|께|에 대한) ?(?:[^.!?\\n]{0,10})(?:메시지|지시|알림|공지)",
    ],
    changes: ["(?:답변|응답|요약)하기 전에[^.!?\\n]{0,40}(?:하세요|하라|해라|십시오|해 ?주세요|해)"],
  },
  {
    code: "ar, fa, he, hi",
    latin: false,
    speaks: [
      "(?:رسالة|ملاحظة|تعليمات|تنبيه)[^.!؟\\n]{0,10}(?:إلى|الى|ل)[^.!؟\\n]{0,10}(?:مساعد|الذكاء الاصطناعي|نموذج|وكيل|روبوت)",
      "(?:הודעה|הוראות|הערה|שים לב)[^.!?\\n]{0,10}(?:ל|עבור)[^.!?\\n]{0,8}(?:עוזר|בינה מלאכותית|סוכן|מודל)",
      "(?:एआई|ai|सहायक)[^।!?\\n]{0,10}(?:के लिए|को)[^।!?\\n]{0,12}(?:निर्देश|संदेश|सूचना)",
    ],
    changes: [
      "قبل (?:الرد|الإجابة|المتابعة)[^.!؟\\n]{0,6}(?:أرسل|ارسل|احذف|افتح|قم|حول)",
      "उत्तर देने से पहले[^।!?\\n]{0,30}(?:भेज|हटा|खोल|कर)",
    ],
  },
];

const SPEAKS = "This text from outside addresses the agent that reads it, not a person";
const CHANGES = "This text from outside replaces the agent's task, or puts something before it";

function rulesOf(latin: boolean): IntentRule[] {
  const rule = (name: string, reason: string, code: string, notation: string): IntentRule => ({
    rule: name,
    action: "ask",
    reason: `${reason} (${code}).`,
    pattern: latin ? phrase(notation) : new RegExp(notation, "g"),
  });
  return LANGUAGES.filter((language) => language.latin === latin).flatMap(({ code, speaks, changes }) => [
    ...speaks.map((notation) => rule("speaks-to-agent", SPEAKS, code, notation)),
    ...changes.map((notation) => rule("changes-task", CHANGES, code, notation)),
  ]);
}

/** Matched against text without accents. */
export const LATIN_OUTSIDE: readonly IntentRule[] = rulesOf(true);
/** Matched against text in its own script. */
export const OTHER_OUTSIDE: readonly IntentRule[] = rulesOf(false);
