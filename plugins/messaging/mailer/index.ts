/** Outgoing email: rendered by kind, stored in the outbox and sent by a worker. */
import type { IncomingHttpHeaders } from 'node:http'

import type { Config } from '../../../config/groups/index.ts'
import type { Db, Trx } from '../../../db/core/database.ts'
import { requeueDeadMail } from '../../../db/emails/dead-letters.ts'
import { confirmationUrl, mailBaseUrl } from '../../../mail/kinds/confirmation-url.ts'
import {
  type EmailKind,
  emailKindDefinitions,
  mailKindNames,
  type NotificationKind,
} from '../../../mail/kinds/index.ts'
import { type MailPreview, previewAll } from '../../../mail/preview.ts'
import type { MailRenderer } from '../../../mail/render.ts'
import { mailNotConfigured } from '../../../schemas/errors.ts'
import { backoff } from '../../background/backoff.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { refreshPeriodically } from '../../localization/languages/renewal.ts'
import {
  createEmailDelivery,
  createSmtpDelivery,
  type DeliverEmail,
  tracedDelivery,
} from './deliver.ts'
import { createHookDelivery } from './hook-delivery.ts'
import { createOutbox, type MailRequest, type Outbox, type RetryDelay } from './outbox/index.ts'
import { createMailJobs } from './outbox/payload.ts'
import { retryBlocker } from './outbox/reasons.ts'
import { configuredRenderer } from './renderer.ts'
import { createSamples } from './samples.ts'

const limits = { firstMs: 5_000, maxMs: 15 * 60_000 }

/**
 * Milliseconds until the next attempt: 5 s after the first, doubled after each, at most 15 minutes, so that email is
 * sent soon after an outage.
 */
export function getEmailRetryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, limits, chance)
}

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

/** An email renderer that is rebuilt after subjects or templates changed. */
function createRenewableRenderer(make: () => MailRenderer) {
  let current = make()
  const render: MailRenderer['render'] = (kind, variables, tag) =>
    current.render(kind, variables, tag)
  const renderer: MailRenderer = {
    render,
    readLocalTemplates: () => current.readLocalTemplates(),
    renewTemplates: () => current.renewTemplates(),
    reloadTemplates: () => current.reloadTemplates(),
  }
  return {
    ...renderer,
    renew(): void {
      current = make()
    },
  }
}

/** The base URL of links in emails: this server, under the name that the operator configured. */
function createBaseUrl(externalUrl: string, externalHosts: readonly string[]) {
  return (headers: IncomingHttpHeaders): string =>
    mailBaseUrl({
      externalUrl,
      externalHosts,
      forwardedHost: first(headers['x-forwarded-host']),
      forwardedProto: first(headers['x-forwarded-proto']),
    })
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

// AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: refreshes templates before an email needs them.

/** An unavailable template does not delay the start. */
function refreshTemplates(deps: Deps<'addHook' | 'config'>, renderer: MailRenderer): void {
  deps.addHook('onReady', renderer.readLocalTemplates)
  if (!deps.config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED) return
  const renew = () => renderer.renewTemplates()
  refreshPeriodically(deps, { first: () => void renew(), renew })
}
