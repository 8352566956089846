/** Renders an email: subject, HTML and plain text. */
import { convert } from 'html-to-text'

import { builtIn } from './built-in/built-in.ts'
import { localVariables } from './built-in/local-variables.ts'
import type { MailLog } from './cached-template.ts'
import {
  type CustomTemplateOptions,
  type CustomTemplateSetting,
  compileSubjects,
  createCustomTemplates,
  forLanguage,
} from './custom-templates.ts'
import type { Template } from './go-template/template.ts'
import { Untrusted } from './go-template/values.ts'
import type { EmailKind, MailVariables } from './kinds/index.ts'
import type { LocalizedMessages } from './languages/language.ts'
import { unknownVariables } from './unknown-variables.ts'

export interface MailRendererOptions extends Omit<CustomTemplateOptions, 'timeoutSeconds'> {
  /** Blank ones count as absent. */
  subjects: readonly CustomTemplateSetting[]
  /** Display names of the providers. */
  providerTitles: ReadonlyMap<string, string>
  /** Returns the language of any tag. */
  messagesFor: (tag: string) => LocalizedMessages
  /** The language of templates that apply to all languages. */
  defaultTag: string
}

export interface RenderedMail {
  subject: string
  html: string
  text: string
  /** A sentence for each configuration error. */
  problems: string[]
}

export type MailRenderer = ReturnType<typeof createMailRenderer>

const maxSubjectLength = 500

/** Receives a sentence for each configuration error. */
type ReportProblem = (problem: string) => void

/** The recipient's language, and the localized variables of the email. */
interface Reader {
  tag: string
  variables: (tag: string) => object
}

interface RenderContext {
  options: MailRendererOptions
  subjects: ReturnType<typeof compileSubjects>
  templates: ReturnType<typeof createCustomTemplates>
}

export function createMailRenderer(options: MailRendererOptions) {
  const subjects = compileSubjects(options.subjects, options.log)
  const templates = createCustomTemplates({ timeoutSeconds: 10, ...options })
  const context = { options, subjects, templates }

  return {
    /** Always renders: a missing or broken custom template falls back to the built-in one. */
    async render<Kind extends EmailKind>(
      kind: Kind,
      variables: MailVariables[Kind],
      tag: string,
    ): Promise<RenderedMail> {
      const problems: string[] = []
      const mail = await compose(context, kind, variables, tag, (problem) => problems.push(problem))
      return { ...mail, problems }
    },

    /** Reads custom settings and files at startup. */
    readLocalTemplates: templates.readLocal,

    /** Reloads expired custom templates. */
    renewTemplates: templates.renew,

    /** Reloads all custom templates. */
    reloadTemplates: templates.reload,
  }
}

/** Returns the custom subject for the language, else the built-in one in the language of the body. */
function renderSubject(
  { options, subjects }: RenderContext,
  kind: EmailKind,
  reader: Reader,
  bodyTag: string,
  report: ReportProblem,
): string {
  const own = forLanguage(kind, reader.tag, (key) => subjects.compiled.get(key))
  const problem = forLanguage(kind, reader.tag, (key) => subjects.errors.get(key))
  if (problem !== undefined) report(problem)
  const way = { kind, part: 'subject', log: options.log, report } as const
  if (own) reportUnknownVariables(kind, own, report)
  const subject = own && attempt(own, reader.variables(reader.tag), way)
  const { subject: standard } = builtIn(kind, options.messagesFor(bodyTag))
  return oneLine(subject ?? '') || oneLine(standard.render(reader.variables(bodyTag)))
}

async function renderBody(
  { options, templates }: RenderContext,
  kind: EmailKind,
  reader: Reader,
  report: ReportProblem,
) {
  const { tag } = reader
  const { log } = options
  const variables = reader.variables(tag)
  const own = await templates.get(kind, tag)
  const problem = templates.problem(kind, tag)
  if (problem !== undefined) report(problem)
  if (own) reportUnknownVariables(kind, own, report)
  const html = own && attempt(own, variables, { kind, part: 'template', log, report })
  if (html !== undefined) {
    if (lacksLinkAndCode(html, variables)) {
      report(missingLinkAndCode)
      log.warn({ kind }, missingLinkAndCode)
    }
    // Loaded only for custom templates.
    const { toPlainText } = await import('./render.ts')
    const isOfLanguage = templates.isOfLanguage(kind, tag)
    return { html, text: toPlainText(html), tag: isOfLanguage ? tag : options.defaultTag }
  }
  const standard = builtIn(kind, options.messagesFor(tag))
  return { html: standard.html.render(variables), text: standard.text.render(variables), tag }
}

async function compose<Kind extends EmailKind>(
  context: RenderContext,
  kind: Kind,
  variables: MailVariables[Kind],
  tag: string,
  report: ReportProblem,
): Promise<Omit<RenderedMail, 'problems'>> {
  const { options } = context
  const reader = {
    tag,
    variables: (each: string) =>
      markUntrusted(localVariables(variables, options.messagesFor(each), options.providerTitles)),
  }
  const { html, text, tag: bodyTag } = await renderBody(context, kind, reader, report)
  return { subject: renderSubject(context, kind, reader, bodyTag, report), html, text }
}

function reportUnknownVariables(kind: EmailKind, template: Template, report: ReportProblem): void {
  for (const problem of unknownVariables(kind, template)) report(problem)
}

interface Attempt {
  kind: EmailKind
  part: 'subject' | 'template'
  log: MailLog
  report: ReportProblem
}

function attempt(
  template: Template,
  variables: object,
  { kind, part, log, report }: Attempt,
): string | undefined {
  try {
    return template.render(variables)
  } catch (error) {
    const what = 'email template failed, built-in template sent'
    log.warn({ kind, part, reason: String(error) }, what)
    report(`${what}: ${String(error)}`)
    return undefined
  }
}

const missingLinkAndCode = 'confirmation email contains neither link nor code'

type LinkAndCode = Partial<Record<'TokenHash' | 'Token' | 'ConfirmationURL', string>>

/**
 * Whether the HTML has neither link nor code, such as a page of the site that was configured as a template by mistake.
 */
function lacksLinkAndCode(html: string, variables: LinkAndCode): boolean {
  const { TokenHash, Token, ConfirmationURL = '' } = variables
  // The link of a PKCE client has a token other than the token hash.
  const linkToken = URL.parse(ConfirmationURL)?.searchParams.get('token')
  const proofs = [TokenHash, Token, linkToken].filter((proof) => proof)
  return proofs.length > 0 && !proofs.some((proof) => html.includes(proof ?? ''))
}

// A line break in a value must not start another header.
function oneLine(subject: string): string {
  return subject
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, maxSubjectLength)
    .toWellFormed()
}

// Which variables of emails are chosen by users: all but those listed here.

/** Of the server, of the operator, or without a text of a user. */
const trusted = new Set([
  'SiteURL',
  'RedirectTo',
  'ConfirmationURL',
  'EndSessionURL',
  'InvitationURL',
  'Token',
  'TokenHash',
  'InvitationToken',
  'Domain',
  'IPAddress',
  'Locale',
  'When',
  'SignedInAt',
  'Provider',
  'ProviderName',
])

const addresses = new Set(['Email', 'NewEmail', 'OldEmail', 'SendingTo', 'InvitedBy', 'Account'])

/** What is before the @ of other addresses can be read as a link. */
const isPlainAddress = (value: unknown) => typeof value === 'string' && !/[/:]/.test(value)

/** Marks the values that users choose. */
function markUntrusted(variables: object): object {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const isTrusted = trusted.has(name) || (addresses.has(name) && isPlainAddress(value))
      return [name, isTrusted ? value : new Untrusted(value)]
    }),
  )
}

/** Converts an HTML email to its plain-text part. */
export function toPlainText(html: string): string {
  return `${convert(html, {
    wordwrap: 78,
    // More than any email needs, and less than the stack allows.
    limits: { maxInputLength: 2_000_000, maxDepth: 500 },
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  })}\n`
}
