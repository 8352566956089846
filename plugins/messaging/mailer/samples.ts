/** Emails with sample data, for previews and test emails. */
import { randomUUID } from 'node:crypto'

import type { Config } from '../../../config/groups/index.ts'
import { type EmailKind, emailKindDefinitions } from '../../../mail/kinds/index.ts'
import type { MailRenderer, RenderedMail } from '../../../mail/render.ts'
import { buildMessageId } from '../../../mail/transport.ts'
import { MailTransportError } from '../../../mail/transport-error.ts'
import { mailNotConfigured, mailNotSent } from '../../../schemas/errors.ts'
import type { DeliverEmail } from './deliver.ts'
import { quotedWords } from './outbox/reasons.ts'
import { type MailDraft, withDraft } from './renderer.ts'

interface SampleDeps {
  config: Config
  renderer: MailRenderer
  /** A renderer with this configuration. */
  rendererFor: (config: Config) => MailRenderer
  /** Undefined without a mail server, and when a hook sends email. */
  deliver: DeliverEmail | undefined
}

interface SampleMail {
  kind: EmailKind
  tag: string
  to: string
}

export function createSamples({ config, renderer, rendererFor, deliver }: SampleDeps) {
  const createSample = (kind: EmailKind) => {
    const { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl } = config
    return emailKindDefinitions[kind].sample({ siteUrl, externalUrl })
  }
  return {
    renderPreview: (kind: EmailKind, tag: string): Promise<RenderedMail> =>
      renderer.render(kind, createSample(kind), tag),

    /** With texts that are not used yet. `problems` lists their errors. */
    previewDraft: (kind: EmailKind, tag: string, draft: MailDraft): Promise<RenderedMail> =>
      rendererFor(withDraft(config, kind, draft)).render(kind, createSample(kind), tag),

    /** Sends immediately, without the queue. Its link and code are not valid. Throws mail_not_sent with the reason. */
    async sendSample({ kind, tag, to }: SampleMail, date: Date) {
      if (!deliver) throw mailNotConfigured()
      const { problems, ...rendered } = await renderer.render(
        kind,
        { ...createSample(kind), Email: to },
        tag,
      )
      const sender = config.AUTH_SMTP_ADMIN_EMAIL ?? 'postern@localhost'
      const messageId = buildMessageId(randomUUID(), sender)
      try {
        const mail = { kind, messageId, to, date, code: null, problems, ...rendered }
        const response = await deliver(mail)
        return { message_id: messageId, response: quotedWords(response) }
      } catch (error) {
        if (!(error instanceof MailTransportError)) throw error
        throw mailNotSent(quotedWords(error.message))
      }
    },
  }
}
