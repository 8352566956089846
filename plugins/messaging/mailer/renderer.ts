import type { Config } from '../../../config/groups/index.ts'
import type { CustomTemplateSetting } from '../../../mail/custom-templates.ts'
import { type EmailKind, emailKindDefinitions, mailKindNames } from '../../../mail/kinds/index.ts'
import { readLocaleSetting } from '../../../mail/locale-settings.ts'
import {
  createMailRenderer,
  type MailRenderer,
  type MailRendererOptions,
} from '../../../mail/render.ts'
import { providerTitles } from '../../../providers/registry.ts'

/** Texts of one type of email that are not used yet. */
export interface MailDraft {
  subject?: string | undefined
  template?: string | undefined
}

/** The configuration with the texts of a draft. */
export function withDraft(config: Config, kind: EmailKind, { subject, template }: MailDraft) {
  const suffix = emailKindDefinitions[kind].envSuffix
  const texts = {
    ...(subject !== undefined && { [`AUTH_MAILER_SUBJECTS_${suffix}`]: subject }),
    ...(template !== undefined && { [`AUTH_MAILER_TEMPLATES_${suffix}`]: template }),
  }
  return { ...config, ...texts, given: new Set([...config.given, ...Object.keys(texts)]) }
}

/** The renderer with custom subjects and templates. */
export function configuredRenderer(
  config: Config,
  deps: Pick<MailRendererOptions, 'fetch' | 'log' | 'messagesFor' | 'defaultTag'>,
): MailRenderer {
  return createMailRenderer({
    ...deps,
    siteUrl: config.AUTH_SITE_URL,
    folder: config.AUTH_TEMPLATES_DIR,
    templates: listSettings(config, 'TEMPLATES'),
    subjects: listSettings(config, 'SUBJECTS'),
    maxAgeSeconds: config.AUTH_MAILER_TEMPLATE_MAX_AGE,
    retrySeconds: config.AUTH_MAILER_TEMPLATE_RETRY_INTERVAL,
    maxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
    providerTitles,
    renewing: config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED,
    rereading: config.dev,
  })
}

/** Settings for all languages, and per language. */
function listSettings(config: Config, what: 'TEMPLATES' | 'SUBJECTS'): CustomTemplateSetting[] {
  const forAll = mailKindNames.flatMap((kind): CustomTemplateSetting[] => {
    const variable = `AUTH_MAILER_${what}_${emailKindDefinitions[kind].envSuffix}` as const
    const value = config.given.has(variable) ? config[variable] : undefined
    return value === undefined ? [] : [{ kind, value }]
  })
  const forOne = Object.entries(config).flatMap(([name, value]): CustomTemplateSetting[] => {
    const variable = readLocaleSetting(name)
    if (variable?.what !== what || typeof value !== 'string') return []
    return [{ kind: variable.kind, tag: variable.tag, value }]
  })
  return [...forAll, ...forOne]
}
