/** `npm run mail`: shows mail that has not been sent, sends dead letters again, drops mail; sends one as a test. */
import { parseArgs } from 'node:util'

import {
  deleteMail,
  findMail,
  listUnsentMail,
  type MailMessageRow,
  requeueDeadMail,
} from '../db/dead-letters.ts'
import { createMailJobs } from '../plugins/mailer/outbox/job.ts'
import { recipientIn } from '../plugins/mailer/outbox/payload.ts'
import { obstacleTo } from './mail/obstacle.ts'
import { sendTest } from './mail/send-test.ts'
import { type MailTools, withMailTools } from './mail/tools.ts'

export const usage = `npm run mail -- list
npm run mail -- retry [ID | --all] [--uncertain]
npm run mail -- drop ID
npm run mail -- test KIND ADDRESS [--locale TAG]`

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The command. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      all: { type: 'boolean' },
      uncertain: { type: 'boolean' },
      locale: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { all = false, locale, uncertain = false } = values
  const [command, id, address, ...more] = positionals
  if (command === 'test') {
    if (!id || !address || more.length > 0) throw new Error(`Usage:\n${usage}`)
    return sendTest({ kind: id, address, locale })
  }
  if (id !== undefined && !idPattern.test(id)) throw new Error(`${id} is not the id of a mail`)
  const work = address === undefined ? workOf(command, { id, all, uncertain }) : undefined
  if (work === undefined) throw new Error(`Usage:\n${usage}`)
  await withMailTools(work)
}

interface Asked {
  id: string | undefined
  all: boolean
  uncertain: boolean
}

type Work = (tools: MailTools) => Promise<void>

/** Undefined for what is no command. */
function workOf(command: string | undefined, { id, all, uncertain }: Asked): Work | undefined {
  if (id === undefined) {
    if (command === 'list') return list
    return command === 'retry' ? (tools) => retryAll(tools, uncertain) : undefined
  }
  if (all) return undefined
  if (command === 'retry') return (tools) => retryOne(tools, id, uncertain)
  return command === 'drop' ? (tools) => drop(tools, id) : undefined
}

async function list(tools: MailTools): Promise<void> {
  const rows = await listUnsentMail(tools.db)
  if (rows.length === 0) console.log('All mail has been sent.')
  for (const row of rows) {
    const { id, state, kind, attempts, created_at, reason } = row
    const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    const fields = [
      id,
      state.padEnd(7),
      created_at.toISOString(),
      kind,
      recipientOf(tools, row),
      tried,
    ]
    console.log([...fields, reason ?? ''].join('  ').trimEnd())
  }
}

function recipientOf({ encryption }: MailTools, { id, payload }: MailMessageRow): string {
  if (payload === '') return '-'
  try {
    return recipientIn(encryption, id, payload)
  } catch {
    return '(cannot be decrypted)'
  }
}

async function retryOne(tools: MailTools, id: string, uncertain: boolean): Promise<void> {
  const row = await findMail(tools.db, id)
  if (row === undefined) throw new Error(`There is no mail ${id}.`)
  const obstacle = obstacleTo(row, uncertain, new Date())
  if (obstacle !== undefined) throw new Error(`This mail ${obstacle}.`)
  await requeue(tools, [row])
}

async function retryAll(tools: MailTools, uncertain: boolean): Promise<void> {
  const now = new Date()
  const dead = (await listUnsentMail(tools.db)).filter(({ state }) => state === 'dead')
  await requeue(
    tools,
    dead.filter((row) => obstacleTo(row, uncertain, now) === undefined),
  )
  for (const row of dead) {
    const obstacle = obstacleTo(row, uncertain, now)
    if (obstacle !== undefined) console.log(`${row.id}  left out: it ${obstacle}`)
  }
}

async function requeue({ db, queueSchema }: MailTools, rows: MailMessageRow[]): Promise<void> {
  const jobs = createMailJobs(queueSchema)
  let requeued = 0
  for (const { id } of rows) if (await requeueDeadMail(db, id, jobs, new Date())) requeued++
  console.log(
    requeued === 1 ? '1 mail will be sent again.' : `${requeued} mails will be sent again.`,
  )
}

async function drop({ db }: MailTools, id: string): Promise<void> {
  if (!(await deleteMail(db, id))) throw new Error(`There is no mail ${id}, or it is being sent.`)
  console.log('Dropped.')
}
