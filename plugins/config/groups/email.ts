import { Type } from '@sinclair/typebox'

import { mailKinds as kindsOfMail, mailKindNames } from '../../../mail/kinds.ts'
import en from '../../../mail/languages/en.json' with { type: 'json' }
import { choice, duration, flag, forEach, group, list, secret, text, whole } from '../fields.ts'
import { headers } from '../values.ts'

const { Optional } = Type

export const smtp = group('Mail server', {
  AUTH_SMTP_HOST: Optional(
    text('Mail server. Without one, whatever must send mail is refused.', {
      'x-example': 'smtp.example.com',
    }),
  ),
  AUTH_SMTP_PORT: whole('Port of the mail server.', { default: 587, minimum: 1, maximum: 65535 }),
  AUTH_SMTP_ADMIN_EMAIL: Optional(
    text('Address all mail is from.', {
      'x-type': 'address',
      'x-example': 'no-reply@example.com',
    }),
  ),
  AUTH_SMTP_SENDER_NAME: Optional(
    text('Name all mail is from.', { 'x-default-text': 'AUTH_SMTP_ADMIN_EMAIL' }),
  ),
  AUTH_SMTP_USER: Optional(text('User name at the mail server.')),
  AUTH_SMTP_PASS: Optional(secret('Password at the mail server.')),
  AUTH_SMTP_TLS: choice(
    '`auto`: TLS from the start on port 465, else STARTTLS when offered. `implicit`: TLS from the start. `starttls`: STARTTLS or nothing. `none`: in clear.',
    ['auto', 'implicit', 'starttls', 'none'],
    { default: 'auto' },
  ),
  AUTH_SMTP_HEADERS: headers(
    'Headers added to every mail, as JSON `{"name": ["value"]}`. `$messageType` stands for the kind of mail.',
    { default: {} },
  ),
  AUTH_SMTP_MAX_FREQUENCY: Optional(
    duration(
      'Shortest time between two mails of one kind to one person; repeats hold back repeats only.',
      {
        'x-default-text': '15m for sign-up confirmations, 1m for all else',
      },
    ),
  ),
})

export const mailer = group('Mail', {
  AUTH_MAILER_AUTOCONFIRM: flag('Takes e-mail addresses as confirmed without a mail.', false),
  AUTH_MAILER_OTP_EXP: duration('Lifetime of a mailed link or code.', {
    default: '24h',
    exclusiveMinimum: 0,
  }),
  AUTH_MAILER_OTP_LENGTH: whole('Digits of a mailed code.', {
    default: 6,
    minimum: 6,
    maximum: 10,
  }),
  AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: flag(
    'A change of address is confirmed from the old address too.',
    true,
  ),
  AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: flag(
    'A provider’s unverified address does not stop a sign-in. Not together with AUTH_MAILER_AUTOCONFIRM.',
    false,
  ),
  AUTH_MAILER_LINK_CONFIRMATION: flag(
    'Mailed links lead to a page with one button, for organisations whose scanners open links.',
    false,
  ),
  AUTH_MAILER_EXTERNAL_HOSTS: list(
    'Host names that a proxy may forward and that links in mail may then be built with. In development its pages are served under them as well.',
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

export const mailKinds = group('Texts of mail', {
  ...forEach(
    suffixes,
    (kind) => `AUTH_MAILER_SUBJECTS_${kind}` as const,
    (kind) =>
      text(`Subject of the ${words(kind)} mail. The default is in the reader’s language.`, {
        default: subjects.get(kind),
      }),
  ),
  ...forEach(
    suffixes,
    (kind) => `AUTH_MAILER_TEMPLATES_${kind}` as const,
    (kind) =>
      Optional(
        text(
          `Template of the ${words(kind)} mail: its address, a path on the site that begins with a slash, a file of AUTH_TEMPLATES_DIR, or the HTML itself.`,
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
      text(
        kind === 'RECOVERY'
          ? 'Path of the link in recovery and magic link mails.'
          : `Path of the link in the ${words(kind)} mail.`,
        { default: '/verify' },
      ),
  ),
  ...forEach(
    events,
    (event) => `AUTH_MAILER_NOTIFICATIONS_${event}_ENABLED` as const,
    (event) => flag(`Sends the ${words(event)} notification.`, false),
  ),
  AUTH_TEMPLATES_DIR: Optional(
    text('Folder with templates and languages. It is read again on SIGHUP.', {
      'x-example': '/etc/postern/templates',
    }),
  ),
  AUTH_MAILER_TEMPLATE_MAX_AGE: duration('A fetched template is fetched anew after this.', {
    default: '10m',
  }),
  AUTH_MAILER_TEMPLATE_MAX_SIZE: whole('Largest template in bytes; a larger one is not used.', {
    default: 1_000_000,
    minimum: 1,
  }),
  AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: duration(
    'A template that could not be fetched is tried again after this.',
    { default: '10s' },
  ),
  AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: flag(
    'Fetches templates at the start and again in the background, so that no mail waits for one.',
    false,
  ),
})

export const languages = group('Languages', {
  AUTH_DEFAULT_LOCALE: text(
    'Language of whoever names none (BCP 47), by `locale` or `language` in their user_metadata or by the Accept-Language of their request.',
    { default: 'en', 'x-type': 'locale' },
  ),
  AUTH_LANGUAGES: list(
    'Languages of your own, or texts put over ours: files of AUTH_TEMPLATES_DIR or addresses, each named after its language, as in `sv.json`.',
    {
      default: [],
      'x-type': 'languages',
      'x-example': 'sv.json,https://example.com/texts/de.json',
    },
  ),
})
