/** The built-in email templates, used when the operator has no custom ones. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import type { ButtonVariable, EmailKindDefinition } from '../kinds/definition.ts'
import { type EmailKind, emailKindDefinitions } from '../kinds/index.ts'
import {
  type EmailTexts,
  emailTexts,
  type LocalizedMessages,
  type Paragraph,
} from '../languages/language.ts'

// The layout of all built-in emails, as template source. Tables and inline styles, for compatibility with email
// clients; the style sheet adds dark mode, small screens and hyphenation for clients that support it. No images or
// other remote content.

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

const mono = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Courier New',monospace"

/** HTML source of an email with these texts; `link` is the variable of its button. */
function htmlLayout(email: EmailTexts, messages: LocalizedMessages, link?: ButtonVariable): string {
  const { tag, direction, texts } = messages
  const heading = inHtml(email.heading)
  // Some email clients drop the html element, so the direction is repeated on the card.
  const side = direction === 'rtl' ? 'right' : 'left'
  const sentTo = inHtml(formatMessage(texts.layout.sent_to, messages))
  return `<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${heading}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
a { color: #1d4ed8; }
h1 { text-wrap: balance; }
h1:lang(ja) { word-break: auto-phrase; }
@media (max-width: 480px) {
  .outer { padding: 0 !important; }
  .card { border-radius: 0 !important; border-width: 0 0 1px !important; padding: 28px 20px !important; }
  .foot { padding: 16px 20px 28px !important; }
}
@media (prefers-color-scheme: dark) {
  body, .outer { background: #0f1115 !important; }
  .card { background: #181b21 !important; border-color: #2c313a !important; }
  .strong { color: #f4f5f7 !important; }
  .plain { color: #d5d9e0 !important; }
  .quiet { color: #a3abb8 !important; }
  .rule { border-color: #2c313a !important; }
  .code { background: #23272f !important; color: #f4f5f7 !important; border-color: #3a404b !important; }
  .button { background: #f4f5f7 !important; border-color: #f4f5f7 !important; color: #14171c !important; }
  a.link { color: #9cc2ff !important; }
}
</style>
</head>
<body style="margin:0;padding:0;background:#f3f4f6;-webkit-text-size-adjust:100%">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td class="outer" align="center" style="background:#f3f4f6;padding:32px 12px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px">
<tr><td class="card" lang="${tag}" dir="${direction}" style="background:#ffffff;border:1px solid #e2e5ea;border-radius:12px;padding:36px 40px;text-align:${side};${font}">
${cardRows(email, messages, link).join('\n')}
</td></tr>
<tr><td class="foot" lang="${tag}" dir="${direction}" style="padding:16px 40px 32px;text-align:${side};${font}">
<p class="quiet" style="margin:0;font-size:13px;line-height:20px;color:#5b6472;word-break:break-word">${sentTo}</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}

function cardRows(email: EmailTexts, messages: LocalizedMessages, link?: ButtonVariable): string[] {
  const written = (text: Paragraph) => inHtml(formatMessage(text, messages))
  const { heading, paragraphs, caution } = email
  return [
    `<h1 class="strong" style="margin:0 0 16px;font-size:22px;line-height:30px;font-weight:600;color:#14171c">${inHtml(heading)}</h1>`,
    ...paragraphs.map((text) => paragraph(written(text))),
    ...(email.button && link ? [button(inHtml(email.button), link)] : []),
    ...(email.code ? [code(inHtml(email.code))] : []),
    ...(email.button && link ? [linkInFull(inHtml(messages.texts.layout.full_link), link)] : []),
    `<div class="rule" style="border-top:1px solid #e2e5ea;margin:24px 0 16px;font-size:0;line-height:0">&nbsp;</div>`,
    `<p class="quiet" style="margin:0;font-size:14px;line-height:22px;color:#5b6472;word-break:break-word">${written(caution)}</p>`,
  ]
}

function paragraph(text: string): string {
  return `<p class="plain" style="margin:0 0 16px;font-size:16px;line-height:25px;color:#333a45;word-break:break-word">${text}</p>`
}

function button(label: string, link: ButtonVariable): string {
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px"><tr><td>
<a class="button" href="{{ .${link} }}" style="display:inline-block;background:#14171c;border:1px solid #14171c;border-radius:8px;padding:13px 24px;font-size:16px;line-height:22px;font-weight:600;color:#ffffff;text-decoration:none">${label}</a>
</td></tr></table>`
}

function code(label: string): string {
  return `${paragraph(label)}
<p class="code" dir="ltr" style="margin:0 0 24px;background:#f3f4f6;border:1px solid #e2e5ea;border-radius:8px;padding:14px 16px;text-align:center;font-size:26px;line-height:32px;font-weight:600;letter-spacing:4px;color:#14171c;${mono}">{{ .Token }}</p>`
}

function linkInFull(label: string, link: ButtonVariable): string {
  return `<p class="quiet" style="margin:0 0 4px;font-size:14px;line-height:22px;color:#5b6472">${label}</p>
<p style="margin:0;font-size:13px;line-height:20px;word-break:break-all"><a class="link" dir="ltr" href="{{ .${link} }}" style="color:#1d4ed8">{{ .${link} }}</a></p>`
}

/** Plain-text source of the same email. */
function textLayout(email: EmailTexts, messages: LocalizedMessages, link?: ButtonVariable): string {
  const written = (text: Paragraph) => formatMessage(text, messages)
  const parts = [
    email.heading,
    ...email.paragraphs.map(written),
    ...(email.button && link ? [`${email.button}:\n{{ .${link} }}`] : []),
    ...(email.code ? [`${email.code}\n\n    {{ .Token }}`] : []),
    written(email.caution),
    `-- \n${written(messages.texts.layout.sent_to)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

// Converts a message of a language into template source.

/** Messages are plain text: HTML characters are escaped, template actions are kept. */
function inHtml(sentence: string): string {
  return outsideActions(sentence, (text) =>
    text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  )
}

/**
 * One template for all plural categories. In a right-to-left language each value is isolated (Unicode UAX 9, FSI and
 * PDI), so that the order of an address and of the text around it is kept.
 */
function formatMessage(
  paragraph: Paragraph,
  { direction }: Pick<LocalizedMessages, 'direction'>,
): string {
  const source = typeof paragraph === 'string' ? paragraph : branches(paragraph)
  return direction === 'ltr' ? source : source.replace(outputs, '\u2068$&\u2069')
}

/** Actions that output a value, with the plus sign of a phone number. */
const outputs = /\+?\{\{ (?:\.|or )[^}]*\}\}/g

function branches({ count, other, ...categories }: Exclude<Paragraph, string>): string {
  const conditions = Object.entries(categories).map(([category, text]) => {
    const [of, value] = category.startsWith('=') ? ['', category.slice(1)] : ['.Plural', category]
    return `if eq ${of}.${count} "${value}" }}${text}`
  })
  // An exact number takes precedence over its plural category.
  const exactFirst = conditions.toSorted(
    (a, b) => Number(a.includes('.Plural')) - Number(b.includes('.Plural')),
  )
  if (exactFirst.length === 0) return other
  return `{{ ${exactFirst.join('{{ else ')}{{ else }}${other}{{ end }}`
}

function outsideActions(sentence: string, change: (text: string) => string): string {
  return sentence
    .split(/(\{\{.*?\}\})/s)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('')
}

/** Returns the template source of a built-in email; operators may start from it. */
export function builtInSource(
  kind: EmailKind,
  messages: LocalizedMessages,
): { html: string; text: string } {
  const texts = emailTexts(messages, kind)
  const { button }: EmailKindDefinition = emailKindDefinitions[kind]
  return { html: htmlLayout(texts, messages, button), text: textLayout(texts, messages, button) }
}

interface BuiltIn {
  subject: Template
  html: Template
  text: Template
}

const compiled = new WeakMap<LocalizedMessages, Map<EmailKind, BuiltIn>>()

/** Compiled at the first use: most servers send few types of email. */
export function builtIn(kind: EmailKind, messages: LocalizedMessages): BuiltIn {
  const inLanguage = compiled.get(messages) ?? new Map<EmailKind, BuiltIn>()
  compiled.set(messages, inLanguage)
  const known = inLanguage.get(kind)
  if (known) return known
  const { html, text } = builtInSource(kind, messages)
  const template = {
    subject: compileTemplate(emailTexts(messages, kind).subject, 'text'),
    html: compileTemplate(html, 'html'),
    text: compileTemplate(text, 'text'),
  }
  inLanguage.set(kind, template)
  return template
}
