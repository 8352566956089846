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

/** Hears of what is not as the operator meant it. */
type Tell = (problem: string) => void

export function createMailRenderer(options: MailRendererOptions) {
  const { log } = options
  const subjects = compileSubjects(options.subjects, log)
  const templates = createOwnTemplates({ timeoutSeconds: 10, ...options })

  function subjectOf(kind: MailKind, speech: Speech, variables: object, tell: Tell): string {
    const own = forLanguage(kind, speech.tag, (key) => subjects.compiled.get(key))
    const mistake = forLanguage(kind, speech.tag, (key) => subjects.mistakes.get(key))
    if (mistake !== undefined) tell(mistake)
    const subject = own && attempt(own, variables, { kind, part: 'subject', log, tell })
    return oneLine(subject ?? '') || oneLine(builtIn(kind, speech).subject.render(variables))
  }

  async function bodyOf(kind: MailKind, speech: Speech, variables: object, tell: Tell) {
    const own = await templates.get(kind, speech.tag)
    const problem = templates.problem(kind, speech.tag)
    if (problem !== undefined) tell(problem)
    const html = own && attempt(own, variables, { kind, part: 'template', log, tell })
    if (html !== undefined) {
      if (lacksProof(html, variables)) {
        tell(noProof)
        log.warn({ kind }, noProof)
      }
      // Only those who have templates of their own need what reads HTML.
      const { plainTextOf } = await import('./plain-text.ts')
      return { html, text: plainTextOf(html) }
    }
    const standard = builtIn(kind, speech)
    return { html: standard.html.render(variables), text: standard.text.render(variables) }
  }

  async function compose<Kind extends MailKind>(
    kind: Kind,
    variables: MailVariables[Kind],
    tag: string,
    tell: Tell,
  ): Promise<RenderedMail> {
    const speech = options.speech(tag)
    const named = localVariables(variables, speech, options.providerTitles)
    return {
      subject: subjectOf(kind, speech, named, tell),
      ...(await bodyOf(kind, speech, named, tell)),
    }
  }

  return {
    /** Always renders: where the operator's template is missing or broken, the built-in one is used. */
    render: <Kind extends MailKind>(kind: Kind, variables: MailVariables[Kind], tag: string) =>
      compose(kind, variables, tag, () => {}),

    /** The same, and a sentence for everything that is not as the operator meant it. */
    async preview<Kind extends MailKind>(kind: Kind, variables: MailVariables[Kind], tag: string) {
      const problems: string[] = []
      const mail = await compose(kind, variables, tag, (problem) => problems.push(problem))
      return { ...mail, problems }
    },

    /** Reads the operator's templates that have expired. */
    renewTemplates: templates.renew,

    /** Reads all of the operator's templates again. */
    reloadTemplates: templates.reload,
  }
}

/** Those without a mistake and the mistakes of the others, by kind and language. */
function compileSubjects(configured: readonly OwnSetting[], log: MailLog) {
  const compiled = new Map<string, Template>()
  const mistakes = new Map<string, string>()
  for (const { kind, tag, value } of configured) {
    if (value.trim() === '') continue
    try {
      compiled.set(keyOf(kind, tag), compileTemplate(value, 'text'))
    } catch (error) {
      const setting = settingName('SUBJECTS', kind, tag)
      const mistake = `${setting} has a mistake; the default is used`
      log.warn({ kind, reason: String(error) }, mistake)
      mistakes.set(keyOf(kind, tag), `${mistake}: ${String(error)}`)
    }
  }
  return { compiled, mistakes }
}

interface Attempt {
  kind: MailKind
  part: 'subject' | 'template'
  log: MailLog
  tell: Tell
}

function attempt(
  template: Template,
  variables: object,
  { kind, part, log, tell }: Attempt,
): string | undefined {
  try {
    return template.render(variables)
  } catch (error) {
    const what = 'a mail template failed; the built-in is sent'
    log.warn({ kind, part, reason: String(error) }, what)
    tell(`${what}: ${String(error)}`)
    return undefined
  }
}

const noProof = 'a mail that is to prove an address holds neither its link nor its code'

/** A page of the site that was taken for a template, or a template that forgot what it is for. */
function lacksProof(html: string, variables: object): boolean {
  const { TokenHash, Token }: { TokenHash?: string; Token?: string } = variables
  const proofs = [TokenHash, Token].filter((proof) => proof !== undefined && proof !== '')
  return proofs.length > 0 && !proofs.some((proof) => html.includes(proof ?? ''))
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
