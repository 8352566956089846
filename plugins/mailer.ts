/** Outgoing mail: rendered by kind, put into the outbox, and handed to the operator's mail server by a worker. */
import type { Trx } from '../db/database.ts'
import { mailNotConfigured } from '../errors.ts'
import { confirmationUrl } from '../mail/confirmation-url.ts'
import { type MailKind, mailKinds, type NotificationKind } from '../mail/kinds.ts'
import { type MailPreview, previewAll } from '../mail/preview.ts'
import type { MailRenderer } from '../mail/render.ts'
import type { Config } from './config/config.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { createBaseUrl } from './mailer/base-url.ts'
import { createSmtpDelivery, deliveryOf, tracedDelivery } from './mailer/deliver.ts'
import { createHookDelivery } from './mailer/hook-delivery.ts'
import { retryDelay } from './mailer/outbox/retry-delay.ts'
import { createOutbox, type MailRequest, type Outbox, type RetryDelay } from './mailer/outbox.ts'
import { configuredRenderer } from './mailer/renderer.ts'
import { keepTemplatesNew } from './mailer/template-renewal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    mailer: ReturnType<typeof createMailer>
  }
}

interface MailerDeps {
  config: Config
  outbox: Pick<Outbox, 'put'>
  renderer: MailRenderer
  configured: boolean
  byHook: boolean
}

function createMailer({ config, outbox, renderer, configured, byHook }: MailerDeps) {
  const { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl } = config

  return {
    /** Whether mail can be sent at all. */
    configured,

    /** Whether the operator's hook sends it: two addresses that are asked at once are one message then. */
    byHook,

    /** The address of this server for whoever opens a link, given the headers of the request. */
    baseUrl: createBaseUrl(externalUrl, config.AUTH_MAILER_EXTERNAL_HOSTS),

    /** The address of a one-time link. */
    confirmationUrl,

    /** Whether the operator wants people told of this. */
    isEnabled: (kind: NotificationKind): boolean =>
      config[`AUTH_MAILER_NOTIFICATIONS_${mailKinds[kind].event}_ENABLED`],

    /**
     * Queues a mail: it exists when `trx` commits, and never when it does not. Returns the message's id.
     * Throws email_provider_not_configured.
     */
    async queue<Kind extends MailKind>(
      trx: Trx,
      request: MailRequest<Kind>,
      now: Date,
    ): Promise<string> {
      if (!configured) throw mailNotConfigured()
      return outbox.put(trx, request, now)
    },

    /** Every kind rendered with sample data in one language, by the operator's templates and subjects. */
    preview: (tag: string): Promise<MailPreview[]> =>
      previewAll(renderer, { siteUrl, externalUrl }, tag),

    /** Reads the operator's templates again. */
    reloadTemplates: renderer.reloadTemplates,
  }
}

const needs = [
  'addHook',
  'config',
  'db',
  'devInbox',
  'encryption',
  'events',
  'hooks',
  'httpClient',
  'jobQueue',
  'languages',
  'log',
  'telemetry',
] as const
type MailerHouse = House<(typeof needs)[number]>

/** The plugin with a pause of its own between two attempts. */
export function mailerPlugin(pauseAfter: RetryDelay) {
  return definePlugin({ name: 'mailer', needs, create: (house) => startMailer(house, pauseAfter) })
}

function startMailer(house: MailerHouse, pauseAfter: RetryDelay) {
  const { config, devInbox, httpClient, languages, log, telemetry } = house
  const smtp = createSmtpDelivery(config)
  const deliver = tracedDelivery(deliveryOf(smtp, devInbox), telemetry.tracing)
  const { guardedFetch: fetch } = httpClient
  const renderer = configuredRenderer(config, { fetch, log, speech: languages.speech })
  const outbox = createOutbox(house)
  keepTemplatesNew(house, renderer)
  const byHook = createHookDelivery(house)
  if (byHook) {
    outbox.sendByHook(byHook, pauseAfter)
    house.addHook('onClose', outbox.stop)
  } else if (deliver !== undefined) {
    outbox.send({ renderer, deliver, retryDelay: pauseAfter })
    house.addHook('onClose', async () => {
      // What is being sent needs the connections to the mail server until it is done.
      await outbox.stop()
      smtp?.close()
    })
  }
  const configured = byHook !== undefined || deliver !== undefined
  return createMailer({ config, outbox, renderer, configured, byHook: byHook !== undefined })
}

export default mailerPlugin(retryDelay)
