/**
 * Outgoing mail: queued in the transaction of the change that causes it, rendered and sent by a worker.
 * Each message is sent at most once (docs/mail.md says what that means when something crashes).
 */
import { randomUUID } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../db/database.ts'
import { insertMailMessage } from '../db/mail-messages.ts'
import { mailNotConfigured } from '../errors.ts'
import { confirmationUrl } from '../mail/confirmation-url.ts'
import type { MailKind } from '../mail/kinds.ts'
import { type MailPreview, type PreviewAddresses, previewAll } from '../mail/preview.ts'
import type { MailRenderer } from '../mail/render.ts'
import type { MailVariables } from '../mail/variables.ts'
import type { Encryption } from './encryption.ts'
import { addBacklogGauges } from './mailer/backlog-gauges.ts'
import { createBaseUrl } from './mailer/base-url.ts'
import { createCompose } from './mailer/compose.ts'
import { createSmtpDelivery, deliveryOf, tracedDelivery } from './mailer/deliver.ts'
import { createHousekeeping } from './mailer/housekeeping.ts'
import { createMailJobs, type MailJobs, sendTask } from './mailer/job.ts'
import { sealPayload } from './mailer/payload.ts'
import { configuredRenderer } from './mailer/renderer.ts'
import { retryDelay } from './mailer/retry-delay.ts'
import { createSender } from './mailer/send.ts'
import { keepTemplatesNew } from './mailer/template-renewal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    mailer: ReturnType<typeof createMailer>
  }
}

export interface MailRequest<Kind extends MailKind> {
  kind: Kind
  to: string
  variables: MailVariables[Kind]
  /** When its link or code ends; a mail that would come later is dropped. */
  expiresAt?: Date | undefined
  /** A UUID, when the client has been told one. */
  messageId?: string | undefined
}

export interface MailerDeps {
  encryption: Encryption
  jobs: MailJobs
  renderer: MailRenderer
  addresses: PreviewAddresses
  configured: boolean
  baseUrl: ReturnType<typeof createBaseUrl>
}

export function createMailer(deps: MailerDeps) {
  const { encryption, jobs, renderer, addresses, configured, baseUrl } = deps

  return {
    /** Whether mail can be sent at all. */
    configured,

    /** The address of this server for whoever opens a link, given the headers of the request. */
    baseUrl,

    /** The address of a one-time link. */
    confirmationUrl,

    /**
     * Queues a mail: it exists when `trx` commits, and never when it does not. Returns the message's id.
     * Throws mailNotConfigured.
     */
    async queue<Kind extends MailKind>(
      trx: Trx,
      { kind, to, variables, expiresAt, messageId: id = randomUUID() }: MailRequest<Kind>,
      now: Date,
    ): Promise<string> {
      if (!configured) throw mailNotConfigured()
      const payload = sealPayload(encryption, id, { to, variables })
      await insertMailMessage(trx, { id, kind, payload, expires_at: expiresAt ?? null }, jobs, now)
      return id
    },

    /** Every kind rendered with sample data, by the operator's templates and subjects. */
    preview: (): Promise<MailPreview[]> => previewAll(renderer, addresses),
  }
}

export interface MailerOptions {
  /** Milliseconds to wait after so many attempts; tests are in a hurry. */
  retryDelay?: (attempts: number) => number
}

async function mailer(fastify: FastifyInstance, options: MailerOptions) {
  const { config, db, encryption, jobQueue, log, metrics } = fastify
  const smtp = createSmtpDelivery(config)
  const deliver = tracedDelivery(deliveryOf(smtp, fastify.devInbox), fastify.tracing)
  const jobs = createMailJobs(jobQueue.schema)
  const renderer = configuredRenderer(config, { fetch: fastify.httpClient.guardedFetch, log })
  const { AUTH_SITE_URL: siteUrl, AUTH_API_EXTERNAL_URL: externalUrl } = config
  const addresses = { siteUrl, externalUrl }
  const configured = deliver !== undefined
  const baseUrl = createBaseUrl(externalUrl, config.AUTH_MAILER_EXTERNAL_HOSTS)
  const deps = { encryption, jobs, renderer, addresses, configured, baseUrl }
  fastify.decorate('mailer', createMailer(deps))
  keepHouse(fastify, jobs)
  keepTemplatesNew(fastify, renderer)
  addBacklogGauges(fastify)
  if (deliver === undefined) {
    log.warn('AUTH_SMTP_HOST is not set: whatever has to send mail is refused')
    return
  }
  const fromAddress = config.AUTH_SMTP_ADMIN_EMAIL ?? 'postern@localhost'
  const compose = createCompose({ encryption, renderer, fromAddress, log })
  const onAttempt = (outcome: string) => metrics.count('postern.mails', { outcome })
  const send = createSender({ db, compose, deliver, jobs, log, retryDelay, onAttempt, ...options })
  jobQueue.addTask(sendTask, (payload, { signal }) => send(idIn(payload), signal))
  fastify.addHook('onClose', async () => {
    // What is being sent needs the connections to the mail server until it is done.
    await jobQueue.stop()
    smtp?.close()
  })
}

function keepHouse({ config, db, jobQueue, log }: FastifyInstance, jobs: MailJobs): void {
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  const house = createHousekeeping({ db, jobs, log, batchSize })
  jobQueue.addTask('recover_mail', () => house.recover(new Date()), { cron: '* * * * *' })
  jobQueue.addTask('remove_old_mail', () => house.removeOld(new Date()), { cron: '23 * * * *' })
}

function idIn(payload: unknown): string {
  if (typeof payload === 'object' && payload !== null && 'id' in payload) return String(payload.id)
  throw new TypeError(`a job of ${sendTask} names no message`)
}

export default fp(mailer, {
  name: 'mailer',
  fastify: '5.x',
  dependencies: ['config', 'db', 'encryption', 'http-client', 'job-queue', 'dev-inbox'],
})
