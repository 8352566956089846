/** `npm run mail -- test`: sends one email with sample data and prints the SMTP transcript. */
import { randomUUID } from 'node:crypto'

import type { Config } from '../../config/groups/index.ts'
import { type EmailKind, emailKindDefinitions, mailKindNames } from '../../mail/kinds/index.ts'
import { buildMessageId, createMailTransport, type OutgoingMail } from '../../mail/transport.ts'
import { MailTransportError } from '../../mail/transport-error.ts'
import { smtpOptions } from '../../plugins/messaging/mailer/deliver.ts'
import { readCommandConfig } from '../shared/context.ts'
import { readTag, withRenderer } from './renderer.ts'

interface TestMail {
  kind: string
  address: string
  /** The default language when absent. */
  locale: string | undefined
}

/** Throws an Error for an unknown type or language, without a mail server, and for a rejected email. */
export async function sendTest({ kind: name, address, locale }: TestMail): Promise<void> {
  const kind = readKind(name)
  const config = readCommandConfig(console.error)
  if (config.AUTH_HOOK_SEND_EMAIL_ENABLED) {
    throw new Error(
      'Email is sent by your hook (AUTH_HOOK_SEND_EMAIL_ENABLED), not by a mail server.',
    )
  }
  const options = smtpOptions(config)
  if (!options) {
    throw new Error('There is no mail server: set AUTH_SMTP_HOST and AUTH_SMTP_ADMIN_EMAIL.')
  }
  const transport = createMailTransport({ ...options, onTranscriptLine: console.log })
  await withRenderer(config, async ({ languages, renderer }) => {
    const tag = readTag(locale, languages)
    const sample = { ...emailKindDefinitions[kind].sample(addressesIn(config)), Email: address }
    const rendered = await renderer.render(kind, sample, tag)
    console.log(`Subject: ${rendered.subject}`)
    const messageId = buildMessageId(randomUUID(), options.from.address)
    await deliver(transport, { kind, messageId, to: address, date: new Date(), ...rendered })
  }).finally(transport.close)
}

async function deliver(
  transport: ReturnType<typeof createMailTransport>,
  mail: OutgoingMail,
): Promise<void> {
  try {
    await transport.send(mail)
    console.log('The mail server accepted it. Its link and code are samples and not valid.')
  } catch (error) {
    if (!(error instanceof MailTransportError)) throw error
    throw new Error(`Not sent (${error.outcome}): ${error.message}.`)
  }
}

function addressesIn(config: Config) {
  return { siteUrl: config.AUTH_SITE_URL, externalUrl: config.AUTH_API_EXTERNAL_URL }
}

/** By its name in settings or in docs/email-templates.md. */
function readKind(name: string): EmailKind {
  const plain = name.toLowerCase().replaceAll('-', '_')
  const kind = mailKindNames.find((each) => each === plain || each === `${plain}_notification`)
  if (kind) return kind
  throw new Error(`${name} is not one of ${mailKindNames.join(', ')}.`)
}
