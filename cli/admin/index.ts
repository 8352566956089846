/** `npm run admin`: manages the users with access to the admin API and the console. */
import { parseArgs } from 'node:util'

import { listAdmins } from '../../db/admins/admins.ts'
import { findUserByEmail, type UserRecord } from '../../db/users/users.ts'
import { hasProvenHolder } from '../../modules/access/index.ts'
import { addAdmin, createAdminLink, removeAdmin } from '../../modules/admins/index.ts'
import { type AdminRole, adminRoleNames } from '../../schemas/console/admin-role.ts'
import { normalizeEmail } from '../../schemas/fields.ts'
import { auditCommand, commandEvents } from '../shared/audit-command.ts'
import { type CommandContext, withContext } from '../shared/context.ts'

export const usage = `npm run admin -- create ADDRESS [--role owner|operator|support]
    makes the user with this email address an admin (default role: owner) and ends the user's
    sessions; for an address that no user has confirmed, prints a link by which the admin sets a
    password
npm run admin -- list
npm run admin -- remove ADDRESS`

const command = 'npm run admin'

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const options = { role: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [name, address, ...rest] = positionals
  const ignore = () => {}
  if (name === 'list' && !address) return withContext(ignore, list)
  if (!address || rest.length > 0) throw new Error(`Usage:\n${usage}`)
  const email = normalizeEmail(address)
  const role = readRole(values.role ?? 'owner')
  if (name === 'create') return withContext(ignore, (context) => create(context, email, role))
  if (name === 'remove') return withContext(ignore, (context) => remove(context, email))
  throw new Error(`Usage:\n${usage}`)
}

function readRole(text: string): AdminRole {
  const role = adminRoleNames.find((known) => known === text)
  if (!role) throw new Error(`${text} is not one of the roles ${adminRoleNames.join(', ')}.`)
  return role
}

async function list({ db }: CommandContext): Promise<void> {
  const admins = await listAdmins(db)
  for (const { user_id, email, phone, role, has_factor } of admins) {
    const factor = has_factor ? 'has a second factor' : 'has no second factor'
    console.log([user_id, role.padEnd(8), email ?? phone ?? '', factor].join('  '))
  }
  console.log(admins.length === 1 ? '1 admin' : `${admins.length} admins`)
}

async function create(context: CommandContext, email: string, role: AdminRole): Promise<void> {
  const { config, db } = context
  const now = new Date()
  const user = await findUserByEmail(db, email, config.AUTH_JWT_AUD)
  // An address that its holder never confirmed may have been entered by another user.
  const isProven = user && (await hasProvenHolder(db, user, { isNamed: false }))
  if (!isProven) return printLink(context, email, role)
  await db.transaction().execute(async (trx) => {
    const deps = { config, events: commandEvents(config) }
    await addAdmin(deps, trx, { userId: user.id, role }, now)
    await auditCommand(trx, config, 'admin_added', { command, now, role, ...toAuditUser(user) })
  })
  console.log(`${email} is an admin with the role ${role}.${hint(context)}`)
}

async function printLink(context: CommandContext, email: string, role: AdminRole): Promise<void> {
  const named = { email, role, createdBy: null }
  const { link } = await createAdminLink(context, context.db, named, new Date())
  console.log(`No user has confirmed the address ${email}. With this link, valid once and for 24 hours, the user sets a password and becomes an admin with the role ${role}:

  ${link}
${hint(context)}`)
}

async function remove({ config, db }: CommandContext, email: string): Promise<void> {
  const now = new Date()
  const user = await findUserByEmail(db, email, config.AUTH_JWT_AUD)
  if (!user) throw new Error(`No user has the address ${email}.`)
  await db.transaction().execute(async (trx) => {
    const { role } = await removeAdmin(trx, user.id)
    const traits = { before: { role }, ...toAuditUser(user) }
    await auditCommand(trx, config, 'admin_removed', { command, now, ...traits })
  })
  console.log(`${email} is no longer an admin. The account remains.`)
}

const toAuditUser = ({ id, email }: UserRecord) => ({ user_id: id, user_email: email ?? '' })

/** The settings that are missing for the admin to sign in. */
function hint({ config }: Pick<CommandContext, 'config'>): string {
  return config.AUTH_CONSOLE_ENABLED
    ? ''
    : '\nThe console is disabled: set AUTH_CONSOLE_ENABLED=true and restart the server.'
}
