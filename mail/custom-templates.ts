/** Custom templates and subjects: one per type of email, and one for each of its languages. */
import {
  CachedTemplate,
  type CacheOptions,
  type MailLog,
  type Places,
  parseTextSource,
} from './cached-template.ts'
import { compileTemplate, type Template } from './go-template/template.ts'
import { type EmailKind, emailKindDefinitions } from './kinds/index.ts'
import { fallbacks } from './languages/library.ts'
import { unknownVariables } from './unknown-variables.ts'

/** A template setting of a type of email; without a tag it applies to all languages. */
export interface CustomTemplateSetting {
  kind: EmailKind
  tag?: string | undefined
  value: string
}

export interface CustomTemplateOptions extends CacheOptions, Places {
  /** Blank ones count as absent. */
  templates: readonly CustomTemplateSetting[]
}

export function createCustomTemplates(options: CustomTemplateOptions) {
  const { copies, local } = createCopies(options)

  return {
    /** Returns the custom template for a language, or undefined when there is none or none could be loaded yet. */
    async get(kind: EmailKind, tag: string): Promise<Template | undefined> {
      const copy = forLanguage(kind, tag, (key) => copies.get(key))
      return copy?.get()
    },

    /** Whether the custom template applies to this language only. */
    isOfLanguage: (kind: EmailKind, tag: string): boolean =>
      fallbacks(tag).some((each) => copies.has(templateKey(kind, each))),

    /** The error at the last load of the custom template. */
    problem: (kind: EmailKind, tag: string): string | undefined =>
      forLanguage(kind, tag, (key) => copies.get(key))?.problem(),

    /** Reads settings and files, so that errors in them are logged at startup. */
    async readLocal(): Promise<void> {
      await Promise.all(local.map((copy) => copy.renew()))
    },

    /** Reloads expired templates, so that emails do not wait for them. */
    async renew(): Promise<void> {
      await Promise.all([...copies.values()].map((copy) => copy.renew()))
    },

    /** Reloads every template: files may have changed. */
    async reload(): Promise<void> {
      for (const copy of copies.values()) copy.expire()
      await Promise.all([...copies.values()].map((copy) => copy.renew()))
    },
  }
}

/** A cached template of each setting, by type and language; `local` are those that are read without a request. */
function createCopies({ templates, ...options }: CustomTemplateOptions) {
  const copies = new Map<string, CachedTemplate<Template>>()
  const local: CachedTemplate<Template>[] = []
  for (const { kind, tag, value } of templates) {
    const setting = value.trim()
    if (setting === '') continue
    const name = settingName('TEMPLATES', kind, tag)
    const text = {
      source: () => parseTextSource(setting, options),
      parse: (source: string) => parseTemplate(kind, name, source, options.log),
      instead: 'the built-in text',
      names: { kind, setting: name },
    }
    const cached = new CachedTemplate(text, options)
    copies.set(templateKey(kind, tag), cached)
    if (!isRemote(setting, options)) local.push(cached)
  }
  return { copies, local }
}

/** Throws for a text that is not a template; unknown variables are logged. */
function parseTemplate(kind: EmailKind, setting: string, source: string, log: MailLog): Template {
  const template = compileTemplate(source, 'html')
  const problems = unknownVariables(kind, template)
  if (problems.length > 0) log.warn({ kind, problems }, `${setting} ${unknownVariablesMessage}`)
  return template
}

const unknownVariablesMessage = 'names variables that the email does not have'

/** An invalid setting counts as local, so that its error is logged at startup. */
function isRemote(setting: string, places: Places): boolean {
  try {
    return parseTextSource(setting, places).from === 'url'
  } catch {
    return false
  }
}

/** Looks up the language, then the language without its region, then the entry for all languages. */
export function forLanguage<T>(
  kind: EmailKind,
  tag: string,
  find: (key: string) => T | undefined,
): T | undefined {
  for (const each of [...fallbacks(tag), undefined]) {
    const found = find(templateKey(kind, each))
    if (found !== undefined) return found
  }
  return undefined
}

function templateKey(kind: EmailKind, tag: string | undefined): string {
  return tag === undefined ? kind : `${kind} ${tag}`
}

/** The environment variable of a setting. */
function settingName(
  what: 'TEMPLATES' | 'SUBJECTS',
  kind: EmailKind,
  tag: string | undefined,
): string {
  const suffix = tag === undefined ? '' : `_${tag.replaceAll('-', '_').toUpperCase()}`
  return `AUTH_MAILER_${what}_${emailKindDefinitions[kind].envSuffix}${suffix}`
}

/** Compiles custom subjects. Returns the valid ones, and the errors of the others, by type and language. */
export function compileSubjects(configured: readonly CustomTemplateSetting[], log: MailLog) {
  const compiled = new Map<string, Template>()
  const errors = new Map<string, string>()
  for (const { kind, tag, value } of configured) {
    if (value.trim() === '') continue
    try {
      const template = compileTemplate(value, 'text')
      compiled.set(templateKey(kind, tag), template)
      const problems = unknownVariables(kind, template)
      const setting = settingName('SUBJECTS', kind, tag)
      if (problems.length > 0) log.warn({ kind, problems }, `${setting} ${unknownVariablesMessage}`)
    } catch (error) {
      const setting = settingName('SUBJECTS', kind, tag)
      const message = `${setting} has an error; the default is used`
      log.warn({ kind, reason: String(error) }, message)
      errors.set(templateKey(kind, tag), `${message}: ${String(error)}`)
    }
  }
  return { compiled, errors }
}
