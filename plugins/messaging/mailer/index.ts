/** Outgoing email: rendered by kind, stored in the outbox and sent by a worker. */
import type { Config } from '../../../config/groups/index.ts'
import type { Db, Trx } from '../../../db/core/database.ts'
import { requeueDeadMail } from '../../../db/emails/dead-letters.ts'
import { confirmationUrl } from '../../../mail/kinds/confirmation-url.ts'
import {
  type EmailKind,
  emailKindDefinitions,
  mailKindNames,
  type NotificationKind,
} from '../../../mail/kinds/index.ts'
import { type MailPreview, previewAll } from '../../../mail/preview.ts'
import type { MailRenderer } from '../../../mail/render.ts'
import { mailNotConfigured } from '../../../schemas/errors.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createBaseUrl } from './base-url.ts'
import {
  createEmailDelivery,
  createSmtpDelivery,
  type DeliverEmail,
  tracedDelivery,
} from './deliver.ts'
import { createHookDelivery } from './hook-delivery.ts'
import { createOutbox, type MailRequest, type Outbox, type RetryDelay } from './outbox/index.ts'
import { createMailJobs } from './outbox/job.ts'
import { getEmailRetryDelay } from './outbox/retry-delay.ts'
import { retryBlocker } from './outbox/retryable.ts'
import { configuredRenderer } from './renderer.ts'
import { createRenewableRenderer } from './renewable-renderer.ts'
import { createSamples } from './samples.ts'
import { refreshTemplates } from './template-renewal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    mailer: ReturnType<typeof createMailer>
  }
}

interface MailerDeps {
  config: Config
  outbox: Pick<Outbox, 'insert'>
  renderer: MailRenderer
  rendererFor: (config: Config) => MailRenderer
  configured: boolean
  byHook: boolean
  /** Sends one email immediately; undefined without a mail server. */
  deliver: DeliverEmail | undefined
}

function createMailer(deps: MailerDeps) {
  const { config, outbox, renderer, configured, byHook } = deps
  const { AUTH_API_EXTERNAL_URL: externalUrl } = config

  return {
    /** Whether email can be sent at all. */
    configured,

    /** Whether the hook sends it: a confirmation by two addresses is then one message. */
    byHook,

    /** The base URL of this server for links, given the request's headers. */
    baseUrl: createBaseUrl(externalUrl, config.AUTH_MAILER_EXTERNAL_HOSTS),

    /** The URL of a one-time link. */
    confirmationUrl,

    /** Whether this notification is enabled. */
    isEnabled: (kind: NotificationKind): boolean =>
      config[`AUTH_MAILER_NOTIFICATIONS_${emailKindDefinitions[kind].event}_ENABLED`],

    /**
     * Queues an email; it is sent only if `trx` commits. Returns the message's id. Throws
     * email_provider_not_configured.
     */
    async queue<Kind extends EmailKind>(
      trx: Trx,
      request: MailRequest<Kind>,
      now: Date,
    ): Promise<string> {
      if (!configured) throw mailNotConfigured()
      return outbox.insert(trx, request, now)
    },

    /** Renders every kind with sample data in one language, with custom templates and subjects. */
    preview: (tag: string): Promise<MailPreview[]> =>
      previewAll(renderer, { siteUrl: config.AUTH_SITE_URL, externalUrl }, tag),

    ...createSamples(deps),

    /** The names of all email kinds. */
    kinds: mailKindNames,

    retryBlocker,

    /** Puts a dead letter back into the queue; false when it was not a dead letter any more. */
    retry: (db: Db, id: string, now: Date): Promise<boolean> =>
      requeueDeadMail(db, id, createMailJobs(`${config.AUTH_DB_NAMESPACE}_jobs`), now),

    /** Reads custom templates again. */
    reloadTemplates: renderer.reloadTemplates,
  }
}

const deps = [
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
  'runtimeSettings',
  'telemetry',
] as const
type CreateMailerDeps = Deps<(typeof deps)[number]>

/** The plugin with a custom delay between attempts. */
export function mailerPlugin(pauseAfter: RetryDelay) {
  return definePlugin({ name: 'mailer', deps, create: (deps) => startMailer(deps, pauseAfter) })
}

function startMailer(deps: CreateMailerDeps, pauseAfter: RetryDelay) {
  const { config, devInbox, httpClient, languages, log, telemetry } = deps
  const smtp = createSmtpDelivery(config)
  const deliver = tracedDelivery(createEmailDelivery(smtp, devInbox), telemetry.tracing)
  const { guardedFetch: fetch } = httpClient
  const { messagesFor, fallback: defaultTag } = languages
  const rendererFor = (values: Config) =>
    configuredRenderer(values, { fetch, log, messagesFor, defaultTag })
  const renderer = createRenewableRenderer(() => rendererFor(config))
  deps.runtimeSettings.onChange(renderer.renew)
  const outbox = createOutbox(deps)
  refreshTemplates(deps, renderer)
  const byHook = createHookDelivery(deps)
  if (byHook) {
    outbox.sendByHook(byHook, pauseAfter)
    deps.addHook('onClose', outbox.stop)
  } else if (deliver !== undefined) {
    outbox.send({ renderer, deliver, retryDelay: pauseAfter })
    deps.addHook('onClose', async () => {
      // Emails being sent need the mail server connections until they are done.
      await outbox.stop()
      smtp?.close()
    })
  }
  const configured = byHook !== undefined || deliver !== undefined
  return createMailer({
    config,
    outbox,
    renderer,
    rendererFor,
    configured,
    byHook: byHook !== undefined,
    deliver: byHook ? undefined : deliver,
  })
}

export default mailerPlugin(getEmailRetryDelay)
