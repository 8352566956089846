import { mailKindNames, mailKinds } from '../../mail/kinds.ts'
import { english } from '../../mail/languages/language.ts'
import { readLocaleSetting } from '../../mail/locale-settings.ts'
import type { OwnSetting } from '../../mail/own-templates.ts'
import {
  createMailRenderer,
  type MailRenderer,
  type MailRendererOptions,
} from '../../mail/render.ts'
import { providerTitles } from '../../providers/registry.ts'
import type { Config } from '../config/config.ts'

/** The renderer with the operator's subjects and templates. */
export function configuredRenderer(
  config: Config,
  house: Pick<MailRendererOptions, 'fetch' | 'log' | 'speech'>,
): MailRenderer {
  return createMailRenderer({
    ...house,
    siteUrl: config.AUTH_SITE_URL,
    folder: config.AUTH_TEMPLATES_DIR,
    templates: settingsOf(config, 'TEMPLATES'),
    subjects: settingsOf(config, 'SUBJECTS').filter((setting) => !isDefault(setting)),
    maxAgeSeconds: config.AUTH_MAILER_TEMPLATE_MAX_AGE,
    retrySeconds: config.AUTH_MAILER_TEMPLATE_RETRY_INTERVAL,
    maxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
    providerTitles,
    renewing: config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED,
    rereading: config.dev,
  })
}

/** For all languages, and for one each. */
function settingsOf(config: Config, what: 'TEMPLATES' | 'SUBJECTS'): OwnSetting[] {
  const forAll = mailKindNames.flatMap((kind): OwnSetting[] => {
    const value = config[`AUTH_MAILER_${what}_${mailKinds[kind].envSuffix}`]
    return value === undefined ? [] : [{ kind, value }]
  })
  const forOne = Object.entries(config).flatMap(([name, value]): OwnSetting[] => {
    const variable = readLocaleSetting(name)
    if (variable?.what !== what || typeof value !== 'string') return []
    return [{ kind: variable.kind, tag: variable.tag, value }]
  })
  return [...forAll, ...forOne]
}

/** The default is English; other languages have it in their own words. */
function isDefault({ kind, tag, value }: OwnSetting): boolean {
  return tag === undefined && value === english.mails[kind].subject
}
