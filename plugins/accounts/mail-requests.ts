/**
 * What anybody may ask to be mailed to an address: a way back in, a sign-in link, a confirmation once more.
 * The request only notes what was asked, the same for every address; who lives there is looked up afterwards by a
 * worker, so that neither the answer nor its time tells who is known.
 */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { hasMailMessage } from '../../db/mail-messages.ts'
import { type Answers, createAnswers, type MailRequest } from './mail-requests/answers.ts'
import { createMagicLinkReader } from './mail-requests/magic-link.ts'
import type { SendPurpose } from './send-limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    mailRequests: ReturnType<typeof createMailRequests>
  }
}

const task = 'answer_mail_request'

const purposes: Record<MailRequest['kind'], SendPurpose> = {
  recovery: 'recovery',
  magic_link: 'recovery',
  confirmation: 'confirmation',
  email_change: 'email_change',
}

interface Job {
  id: string
  /** The encrypted request: it holds an address. */
  request: string
  /** ISO 8601 */
  asked_at: string
}

interface MailRequestDeps {
  encryption: FastifyInstance['encryption']
  jobQueue: Pick<FastifyInstance['jobQueue'], 'enqueue'>
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
  readMagicLink: ReturnType<typeof createMagicLinkReader>
}

export function createMailRequests(deps: MailRequestDeps) {
  const { encryption, jobQueue, recipients, sendLimits, readMagicLink } = deps

  return {
    readMagicLink,

    /**
     * Notes the request. Returns the id of the message that may come of it. Throws over_email_send_rate_limit,
     * email_provider_not_configured or email_address_not_authorized.
     */
    async accept(trx: Trx, request: MailRequest, now: Date): Promise<string> {
      recipients.check(request.address)
      const purpose = purposes[request.kind]
      await sendLimits.claimInterval(trx, 'email', purpose, request.address, now)
      const id = crypto.randomUUID()
      const sealed = encryption.encrypt(id, JSON.stringify(request))
      const job: Job = { id, request: sealed, asked_at: now.toISOString() }
      await jobQueue.enqueue(trx, task, job)
      // Last, because everybody who sends waits for this row until the transaction ends.
      await sendLimits.claimQuota(trx, 'email', now)
      return id
    },
  }
}

interface WorkerDeps {
  db: Db
  answers: Answers
  encryption: FastifyInstance['encryption']
  log: Pick<FastifyBaseLogger, 'warn'>
  /** What was asked longer ago than a link would have lived is not answered any more. */
  lifetimeSeconds: number
}

export function createMailRequestWorker(deps: WorkerDeps) {
  const { db, answers, encryption, log, lifetimeSeconds } = deps

  return async function answer(payload: unknown): Promise<void> {
    const { id, request, asked_at } = readJob(payload)
    const now = new Date()
    if (now.getTime() - Date.parse(asked_at) > lifetimeSeconds * 1000) {
      log.warn({ messageId: id }, 'a request for a mail was dropped: it waited too long')
      return
    }
    const asked: MailRequest = JSON.parse(encryption.decrypt(id, request, 'A request for a mail'))
    await db.transaction().execute(async (trx) => {
      // A worker that died after its commit leaves the job to another one.
      if (await hasMailMessage(trx, id)) return
      await answers[asked.kind](trx, withMessageId(asked, id), now)
    })
  }
}

function withMessageId(request: MailRequest, messageId: string): MailRequest {
  return { ...request, context: { ...request.context, messageId } }
}

function readJob(payload: unknown): Job {
  const { id, request, asked_at }: Partial<Job> = Object(payload)
  if (!id || !request || !asked_at) throw new TypeError(`a job of ${task} lacks a field`)
  return { id, request, asked_at }
}

async function mailRequests(fastify: FastifyInstance) {
  const { config, db, encryption, jobQueue, log, recipients, sendLimits } = fastify
  const { audit, emailChanges, letters, links, signUps } = fastify
  const signUpsClosed = config.AUTH_DISABLE_SIGNUP
  const answers = createAnswers({ audit, emailChanges, letters, signUps, signUpsClosed })
  const lifetimeSeconds = links.ttlSeconds
  const worker = createMailRequestWorker({ db, answers, encryption, log, lifetimeSeconds })
  jobQueue.addTask(task, worker)
  const readMagicLink = createMagicLinkReader(config, links)
  const deps = { encryption, jobQueue, recipients, sendLimits, readMagicLink }
  fastify.decorate('mailRequests', createMailRequests(deps))
}

export default fp(mailRequests, {
  name: 'mail-requests',
  fastify: '5.x',
  dependencies: [
    'config',
    'db',
    'encryption',
    'job-queue',
    'audit',
    'links',
    'letters',
    'recipients',
    'send-limits',
    'sign-ups',
    'email-changes',
  ],
})
