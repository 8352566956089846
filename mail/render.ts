/** From a kind of mail and its variables to what is sent: subject, HTML and plain text. */
import { builtIn } from './built-in/built-in.ts'
import { localVariables } from './built-in/local-variables.ts'
import { compileTemplate, type Template } from './go-template/template.ts'
import type { MailKind } from './kinds.ts'
import type { Speech } from './languages/language.ts'
import type { MailLog } from './log.ts'
import {
  createOwnTemplates,
  forLanguage,
  keyOf,
  type OwnSetting,
  type OwnTemplateOptions,
  settingName,
} from './own-templates.ts'
import type { MailVariables } from './variables.ts'

export interface MailRendererOptions extends Omit<OwnTemplateOptions, 'timeoutSeconds'> {
  /** Blank ones count as absent. */
  subjects: readonly OwnSetting[]
  /** What people call each external provider. */
  providerTitles: ReadonlyMap<string, string>
  /** The language of a tag; any tag has one. */
  speech: (tag: string) => Speech
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
  const templates = createOwnTemplates({ timeoutSeconds: 10, ...options })

  function subjectOf(kind: MailKind, speech: Speech, variables: object): string {
    const own = forLanguage(kind, speech.tag, (key) => subjects.get(key))
    const subject = own && attempt(own, variables, kind, 'subject', log)
    return oneLine(subject ?? '') || oneLine(builtIn(kind, speech).subject.render(variables))
  }

  async function bodyOf(kind: MailKind, speech: Speech, variables: object) {
    const own = await templates.get(kind, speech.tag)
    const html = own && attempt(own, variables, kind, 'template', log)
    if (html !== undefined) {
      // Only those who have templates of their own need what reads HTML.
      const { plainTextOf } = await import('./plain-text.ts')
      return { html, text: plainTextOf(html) }
    }
    const standard = builtIn(kind, speech)
    return { html: standard.html.render(variables), text: standard.text.render(variables) }
  }

  return {
    /** Always renders: where the operator's template is missing or broken, the built-in one is used. */
    async render<Kind extends MailKind>(
      kind: Kind,
      variables: MailVariables[Kind],
      tag: string,
    ): Promise<RenderedMail> {
      const speech = options.speech(tag)
      const named = localVariables(variables, speech, options.providerTitles)
      return {
        subject: subjectOf(kind, speech, named),
        ...(await bodyOf(kind, speech, named)),
      }
    },

    /** Reads the operator's templates that have expired. */
    renewTemplates: templates.renew,

    /** Reads all of the operator's templates again. */
    reloadTemplates: templates.reload,
  }
}

/** Those without a mistake, by kind and language. */
function compileSubjects(configured: readonly OwnSetting[], log: MailLog): Map<string, Template> {
  const compiled = new Map<string, Template>()
  for (const { kind, tag, value } of configured) {
    if (value.trim() === '') continue
    try {
      compiled.set(keyOf(kind, tag), compileTemplate(value, 'text'))
    } catch (error) {
      const setting = settingName('SUBJECTS', kind, tag)
      log.warn({ kind, reason: String(error) }, `${setting} has a mistake; the default is used`)
    }
  }
  return compiled
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
