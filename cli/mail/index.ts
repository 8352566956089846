/** `npm run mail`: lists unsent emails, retries and deletes dead letters, sends test emails. */
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'

import type { Config } from '../../config/groups/index.ts'
import {
  deleteMail,
  findMail,
  listUnsentMail,
  type MailMessageRow,
  requeueDeadMail,
} from '../../db/emails/dead-letters.ts'
import { type EmailKind, emailKindDefinitions, mailKindNames } from '../../mail/kinds/index.ts'
import { buildMessageId, createMailTransport, type OutgoingMail } from '../../mail/transport.ts'
import { MailTransportError } from '../../mail/transport-error.ts'
import { smtpOptions } from '../../plugins/messaging/mailer/deliver.ts'
import { createMailJobs, recipientIn } from '../../plugins/messaging/mailer/outbox/payload.ts'
import { retryBlocker } from '../../plugins/messaging/mailer/outbox/reasons.ts'
import { type CommandContext, readCommandConfig, withContext } from '../shared/context.ts'
import { readTag, withRenderer } from './renderer.ts'

export const usage = `npm run mail -- list
npm run mail -- retry [ID | --all] [--unknown-outcome]
npm run mail -- drop ID
npm run mail -- test KIND ADDRESS [--locale TAG]`

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      all: { type: 'boolean' },
      'unknown-outcome': { type: 'boolean' },
      locale: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { all = false, locale, 'unknown-outcome': unknownOutcome = false } = values
  const [command, id, address, ...more] = positionals
  if (command === 'test') {
    if (!id || !address || more.length > 0) throw new Error(`Usage:\n${usage}`)
    return sendTest({ kind: id, address, locale })
  }
  if (id !== undefined && !idPattern.test(id)) throw new Error(`${id} is not the id of an email`)
  const work =
    address === undefined ? chooseAction(command, { id, all, unknownOutcome }) : undefined
  if (work === undefined) throw new Error(`Usage:\n${usage}`)
  await withMailTools(work)
}

interface RetryOptions {
  id: string | undefined
  all: boolean
  unknownOutcome: boolean
}

type Action = (tools: MailTools) => Promise<void>

/** Undefined for an unknown command. */
function chooseAction(
  command: string | undefined,
  { id, all, unknownOutcome }: RetryOptions,
): Action | undefined {
  if (id === undefined) {
    if (command === 'list') return list
    return command === 'retry' ? (tools) => retryAll(tools, unknownOutcome) : undefined
  }
  if (all) return undefined
  if (command === 'retry') return (tools) => retryOne(tools, id, unknownOutcome)
  return command === 'drop' ? (tools) => drop(tools, id) : undefined
}

async function list(tools: MailTools): Promise<void> {
  const rows = await listUnsentMail(tools.db)
  if (rows.length === 0) console.log('All email has been sent.')
  for (const row of rows) {
    const { id, state, kind, attempts, created_at, reason } = row
    const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    const fields = [
      id,
      state.padEnd(7),
      created_at.toISOString(),
      kind,
      decryptRecipient(tools, row),
      tried,
    ]
    console.log([...fields, reason ?? ''].join('  ').trimEnd())
  }
}

function decryptRecipient({ encryption }: MailTools, { id, payload }: MailMessageRow): string {
  if (payload === '') return '-'
  try {
    return recipientIn(encryption, id, payload)
  } catch {
    return '(cannot be decrypted)'
  }
}

async function retryOne(
  tools: MailTools,
  id: string,
  includeUnknownOutcome: boolean,
): Promise<void> {
  const row = await findMail(tools.db, id)
  if (row === undefined) throw new Error(`There is no email ${id}.`)
  const blocker = findBlocker(row, includeUnknownOutcome, new Date())
  if (blocker !== undefined) throw new Error(`This email ${blocker}.`)
  await requeue(tools, [row])
}

async function retryAll(tools: MailTools, includeUnknownOutcome: boolean): Promise<void> {
  const now = new Date()
  const dead = (await listUnsentMail(tools.db)).filter(({ state }) => state === 'dead')
  await requeue(
    tools,
    dead.filter((row) => findBlocker(row, includeUnknownOutcome, now) === undefined),
  )
  for (const row of dead) {
    const blocker = findBlocker(row, includeUnknownOutcome, now)
    if (blocker !== undefined) console.log(`${row.id}  left out: it ${blocker}`)
  }
}

/** Why an email cannot be retried; undefined when it can. */
function findBlocker(
  row: MailMessageRow,
  includeUncertain: boolean,
  now: Date,
): string | undefined {
  const blocker = retryBlocker(row, now)
  if (!blocker?.isUncertain) return blocker?.sentence
  if (includeUncertain) return undefined
  return `${blocker.sentence}: add --unknown-outcome to send it again`
}

async function requeue({ db, queueSchema }: MailTools, rows: MailMessageRow[]): Promise<void> {
  const jobs = createMailJobs(queueSchema)
  let requeued = 0
  for (const { id } of rows) if (await requeueDeadMail(db, id, jobs, new Date())) requeued++
  console.log(
    requeued === 1 ? '1 email will be sent again.' : `${requeued} emails will be sent again.`,
  )
}

async function drop({ db }: MailTools, id: string): Promise<void> {
  if (!(await deleteMail(db, id))) throw new Error(`There is no email ${id}, or it is being sent.`)
  console.log('Dropped.')
}

type MailTools = Pick<CommandContext, 'db' | 'encryption' | 'queueSchema'>

/** Calls `use` with access to the email queue of the configured server. */
function withMailTools(use: (tools: MailTools) => Promise<void>): Promise<void> {
  return withContext(console.error, use)
}

// `npm run mail -- test`: sends one email with sample data and prints the SMTP transcript.

interface TestMail {
  kind: string
  address: string
  /** The default language when absent. */
  locale: string | undefined
}

/** Throws an Error for an unknown type or language, without a mail server, and for a rejected email. */
async function sendTest({ kind: name, address, locale }: TestMail): Promise<void> {
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
