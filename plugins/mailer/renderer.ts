import { type MailKind, mailKindNames, mailKinds } from '../../mail/kinds.ts'
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
  { fetch, log }: Pick<MailRendererOptions, 'fetch' | 'log'>,
): MailRenderer {
  return createMailRenderer({
    fetch,
    log,
    siteUrl: config.AUTH_SITE_URL,
    templateUrls: byKind((suffix) => config[`AUTH_MAILER_TEMPLATES_${suffix}`]),
    subjects: byKind((suffix) => config[`AUTH_MAILER_SUBJECTS_${suffix}`]),
    maxAgeSeconds: config.AUTH_MAILER_TEMPLATE_MAX_AGE,
    retrySeconds: config.AUTH_MAILER_TEMPLATE_RETRY_INTERVAL,
    maxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
    providerTitles,
    renewing: config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED,
  })
}

type Suffix = (typeof mailKinds)[MailKind]['envSuffix']

function byKind(
  settingOf: (suffix: Suffix) => string | undefined,
): Partial<Record<MailKind, string>> {
  const entries = mailKindNames.map((kind) => [kind, settingOf(mailKinds[kind].envSuffix)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
