import { Type } from '@sinclair/typebox'

import { emailKindDefinitions as kindsOfMail, mailKindNames } from '../../mail/kinds/index.ts'
import en from '../../mail/languages/en.json' with { type: 'json' }
import { localeSettingPattern, readLocaleSetting } from '../../mail/locale-settings.ts'
import {
  booleanField,
  duration,
  enumField,
  forEach,
  group,
  integerField,
  listField,
  secret,
  textField,
  url,
} from '../core/fields.ts'
import { headers } from '../core/values.ts'

const { Optional } = Type

export const smtp = group('Mail server', {
  AUTH_SMTP_HOST: Optional(
    textField('Mail server (SMTP). Without it, requests that need an email are rejected.', {
      'x-example': 'smtp.example.com',
    }),
  ),
  AUTH_SMTP_PORT: integerField('Port of the mail server.', {
    default: 587,
    minimum: 1,
    maximum: 65535,
  }),
  AUTH_SMTP_ADMIN_EMAIL: Optional(
    textField('Sender address of all emails.', {
      'x-type': 'address',
      'x-example': 'no-reply@example.com',
    }),
  ),
  AUTH_SMTP_SENDER_NAME: Optional(
    textField('Sender name of all emails.', { 'x-default-text': 'AUTH_SMTP_ADMIN_EMAIL' }),
  ),
  AUTH_SMTP_USER: Optional(textField('User name for the mail server.')),
  AUTH_SMTP_PASS: Optional(secret('Password for the mail server.')),
  AUTH_SMTP_TLS: enumField(
    '`auto`: implicit TLS on port 465, otherwise STARTTLS if the server offers it. `implicit`: TLS from the start. `starttls`: STARTTLS is required. `none`: no encryption.',
    ['auto', 'implicit', 'starttls', 'none'],
    { default: 'auto' },
  ),
  AUTH_SMTP_HEADERS: headers(
    'Headers added to every email, as JSON `{"name": ["value"]}`. `$messageType` is replaced by the email type.',
    { default: {} },
  ),
  AUTH_SMTP_MAX_FREQUENCY: Optional(
    duration(
      'Minimum time between two emails of one type to one user. A resend delays further resends only.',
      {
        'x-default-text': '15m for sign-up confirmations, 1m for all else',
      },
    ),
  ),
})

export const mailer = group('Email', {
  AUTH_MAILER_AUTOCONFIRM: booleanField(
    'Treats email addresses as confirmed without a confirmation email.',
    false,
  ),
  AUTH_MAILER_OTP_EXP: duration('Lifetime of a link or code sent by email.', {
    default: '24h',
    exclusiveMinimum: 0,
  }),
  AUTH_MAILER_OTP_LENGTH: integerField('Number of digits of a code sent by email.', {
    default: 6,
    minimum: 6,
    maximum: 10,
  }),
  AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: booleanField(
    'A change of email address must be confirmed from the old address too.',
    true,
  ),
  AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: booleanField(
    'Permits a sign-in with an email address that the provider has not verified. Not together with AUTH_MAILER_AUTOCONFIRM.',
    false,
  ),
  AUTH_MAILER_LINK_CONFIRMATION: booleanField(
    'Links in emails lead to a page with a button, so that email scanners that open links do not consume them.',
    false,
  ),
  AUTH_MAILER_EMAIL_VALIDATION_EXTENDED: booleanField(
    'Rejects addresses that no email can reach: reserved and misspelt domains, and domains without a mail server in DNS.',
    false,
  ),
  AUTH_MAILER_EMAIL_VALIDATION_BLOCKED_MX: listField(
    'Mail servers whose domains are rejected by the extended validation, as a JSON array or separated by commas.',
    { default: [], 'x-type': 'json-hosts' },
  ),
  AUTH_MAILER_EMAIL_VALIDATION_SERVICE_URL: Optional(
    url(
      'Validation service: receives `POST {"email": "…"}` and rejects an address by `{"valid": false}`. Any other response accepts it.',
    ),
  ),
  AUTH_MAILER_EMAIL_VALIDATION_SERVICE_HEADERS: headers(
    'Headers for the validation service, as JSON `{"name": ["value"]}`.',
    { default: {}, 'x-secret': true },
  ),
  AUTH_MAILER_EXTERNAL_HOSTS: listField(
    'Host names that a proxy may forward and that links in emails may contain. Development pages are served under them too.',
    { default: [], 'x-type': 'hosts' },
  ),
})

const kinds = Object.values(kindsOfMail)
const events = kinds.flatMap((kind) => ('event' in kind ? [kind.event] : []))
const subjects = new Map<string, string>(
  mailKindNames.map((kind) => [kindsOfMail[kind].envSuffix, en.mails[kind].subject]),
)
const suffixes = kinds.map(({ envSuffix }) => envSuffix)
const linkSuffixes = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'] as const

const words = (name: string) => name.toLowerCase().replaceAll('_', ' ')

export const emailKinds = group('Email texts', {
  ...forEach(
    suffixes,
    (kind) => `AUTH_MAILER_SUBJECTS_${kind}` as const,
    (kind) =>
      textField(
        `Subject of the ${words(kind)} email. By default it is in the language of the user.`,
        {
          default: subjects.get(kind),
        },
      ),
  ),
  ...forEach(
    suffixes,
    (kind) => `AUTH_MAILER_TEMPLATES_${kind}` as const,
    (kind) =>
      Optional(
        textField(
          `Template of the ${words(kind)} email: its URL, a path on the site that begins with a slash, a file in AUTH_TEMPLATES_DIR, or the HTML itself.`,
          {
            'x-default-text': 'built in',
          },
        ),
      ),
  ),
  ...forEach(
    linkSuffixes,
    (kind) => `AUTH_MAILER_URLPATHS_${kind}` as const,
    (kind) =>
      textField(
        kind === 'RECOVERY'
          ? 'Path of the link in recovery and magic link emails.'
          : `Path of the link in the ${words(kind)} email.`,
        { default: '/verify' },
      ),
  ),
  ...forEach(
    events,
    (event) => `AUTH_MAILER_NOTIFICATIONS_${event}_ENABLED` as const,
    (event) =>
      event === 'NEW_SIGN_IN'
        ? booleanField('Sends the new sign in notification.', false)
        : booleanField(
            `Sends the ${words(event)} notification. Defaults to false if AUTH_JWT_SECRET is set under its GOTRUE_ name.`,
            true,
          ),
  ),
  AUTH_TEMPLATES_DIR: Optional(
    textField('Folder with templates and languages. SIGHUP reloads it.', {
      'x-example': '/etc/postern/templates',
    }),
  ),
  AUTH_MAILER_TEMPLATE_MAX_AGE: duration('Time after which a fetched template is fetched again.', {
    default: '10m',
  }),
  AUTH_MAILER_TEMPLATE_MAX_SIZE: integerField(
    'Maximum size of a template in bytes. A larger one is not used.',
    {
      default: 1_000_000,
      minimum: 1,
    },
  ),
  AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: duration(
    'Time after which a failed template is fetched again.',
    { default: '10s' },
  ),
  AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: booleanField(
    'Fetches templates at the start and refreshes them in the background, so that no email waits for one.',
    false,
  ),
})

export const languages = group('Languages', {
  AUTH_LANGUAGES_ENABLED: booleanField(
    'Uses the language of each user. If false, every email, SMS and page is in AUTH_DEFAULT_LOCALE.',
    true,
  ),
  AUTH_DEFAULT_LOCALE: textField(
    'Default language (BCP 47), for users who set none with `locale` or `language` in their user_metadata and whose request has no Accept-Language.',
    { default: 'en', 'x-type': 'locale' },
  ),
  AUTH_LANGUAGES: listField(
    'Custom languages, or custom texts for shipped languages: files in AUTH_TEMPLATES_DIR or addresses, each named after its language, such as `sv.json`.',
    {
      default: [],
      'x-type': 'languages',
      'x-example': 'sv.json,https://example.com/texts/de.json',
    },
  ),
})

/** Values of variables of one language, whose names contain the language (mail/locale-settings.ts). */
export type MailLocaleValues = {
  [name: `AUTH_MAILER_TEMPLATES_${string}`]: string | undefined
  [name: `AUTH_MAILER_SUBJECTS_${string}`]: string | undefined
}

/** The variables of this kind that are set, under our prefix. */
export function mailLocaleNames(variables: Iterable<string>): string[] {
  const ours = [...variables].map((name) => name.replace(/^GOTRUE_/, 'AUTH_'))
  return [...new Set(ours)].filter((name) => localeSettingPattern.test(name)).sort()
}

/** The schema of a variable of one language. */
export const mailLocaleField = textField('Template or subject of a mail in one language.', {
  'x-group': 'Email texts',
})

/** Variables of unused languages, because AUTH_LANGUAGES_ENABLED is false. */
export function mailLocalesWithoutEffect(config: {
  AUTH_LANGUAGES_ENABLED: boolean
  AUTH_DEFAULT_LOCALE: string
  given: ReadonlySet<string>
}): string[] {
  if (config.AUTH_LANGUAGES_ENABLED) return []
  const used = `${config.AUTH_DEFAULT_LOCALE}-`
  return [...config.given].filter((name) => {
    const setting = readLocaleSetting(name)
    return setting !== undefined && !used.startsWith(`${setting.tag}-`)
  })
}
