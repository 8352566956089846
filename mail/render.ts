/** From a kind of mail and its variables to what is sent: subject, HTML and plain text. */
import { builtIn } from './built-in/built-in.ts'
import { withProviderName } from './built-in/names.ts'
import { compileTemplate, type Template } from './go-template/template.ts'
import { type MailKind, mailKindNames, mailKinds } from './kinds.ts'
import type { MailLog } from './log.ts'
import { createRemoteTemplates } from './remote-templates.ts'
import type { MailVariables } from './variables.ts'

export interface MailRendererOptions {
  fetch: typeof globalThis.fetch
  siteUrl: string
  templateUrls: Partial<Record<MailKind, string>>
  /** Blank ones count as absent. */
  subjects: Partial<Record<MailKind, string>>
  /** How long a fetched template is good. */
  maxAgeSeconds: number
  /** Pause after a template could not be fetched. */
  retrySeconds: number
  /** Longest template that is taken. */
  maxBytes: number
  /** What people call each external provider. */
  providerTitles: ReadonlyMap<string, string>
  /** `renewTemplates` is called regularly; see RemoteTemplateOptions. */
  renewing: boolean
  log: MailLog
}

export interface RenderedMail {
  subject: string
  html: string
  text: string
}

export type MailRenderer = ReturnType<typeof createMailRenderer>

const maxSubjectLength = 500

export function createMailRenderer(options: MailRendererOptions) {
  const { log } = options
  const subjects = compileSubjects(options.subjects, log)
  const remote = createRemoteTemplates({ timeoutSeconds: 10, ...options })

  function subjectOf(kind: MailKind, variables: object): string {
    const { own, standard } = subjects[kind]
    const subject = own && attempt(own, variables, kind, 'subject', log)
    return oneLine(subject ?? '') || oneLine(standard.render(variables))
  }

  async function bodyOf(kind: MailKind, variables: object) {
    const own = await remote.get(kind)
    const html = own && attempt(own, variables, kind, 'template', log)
    if (html !== undefined) {
      // Only those who have templates of their own need what reads HTML.
      const { plainTextOf } = await import('./plain-text.ts')
      return { html, text: plainTextOf(html) }
    }
    const standard = builtIn(kind)
    return { html: standard.html.render(variables), text: standard.text.render(variables) }
  }

  return {
    /** Always renders: where the operator's template is missing or broken, the built-in one is used. */
    async render<Kind extends MailKind>(
      kind: Kind,
      variables: MailVariables[Kind],
    ): Promise<RenderedMail> {
      const named = withProviderName(variables, options.providerTitles)
      return { subject: subjectOf(kind, named), ...(await bodyOf(kind, named)) }
    },

    /** Fetches the operator's templates that have expired. */
    renewTemplates: remote.renew,
  }
}

interface SubjectTemplates {
  own: Template | undefined
  standard: Template
}

function compileSubjects(configured: MailRendererOptions['subjects'], log: MailLog) {
  const compiled = mailKindNames.map((kind): [MailKind, SubjectTemplates] => {
    const standard = compileTemplate(mailKinds[kind].subject, 'text')
    return [kind, { own: compileSubject(kind, configured[kind] ?? '', log), standard }]
  })
  return Object.fromEntries(compiled) as Record<MailKind, SubjectTemplates>
}

function compileSubject(kind: MailKind, source: string, log: MailLog): Template | undefined {
  if (source.trim() === '') return undefined
  try {
    return compileTemplate(source, 'text')
  } catch (error) {
    const variable = `AUTH_MAILER_SUBJECTS_${mailKinds[kind].envSuffix}`
    log.warn({ kind, reason: String(error) }, `${variable} has a mistake; the default is used`)
    return undefined
  }
}

function attempt(
  template: Template,
  variables: object,
  kind: MailKind,
  part: 'subject' | 'template',
  log: MailLog,
): string | undefined {
  try {
    return template.render(variables)
  } catch (error) {
    log.warn({ kind, part, reason: String(error) }, 'a mail template failed; the built-in is sent')
    return undefined
  }
}

// A subject is one line: a line break in a value must not become a header of its own.
function oneLine(subject: string): string {
  return subject
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, maxSubjectLength)
    .toWellFormed()
}
