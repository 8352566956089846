/** What operators do by command is in the audit trail like what admins do by request. */
import type { Db } from '../db/database.ts'
import {
  type AuditAction,
  type AuditSettings,
  adminActor,
  record,
} from '../plugins/accounts/audit/entry.ts'
import type { Config } from '../plugins/config/config.ts'
import { createRecorder } from '../plugins/events/record.ts'

/** The command is the actor: who ran it, the operating system knows. */
export async function auditCommand(
  db: Db,
  config: Config,
  action: AuditAction,
  { command, now, ...traits }: { command: string; now: Date } & Record<string, unknown>,
): Promise<void> {
  const stored = !config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  const events = createRecorder(config)
  const settings: AuditSettings = { stored, log: { info() {} }, metrics: { count() {} }, events }
  await record(settings, db, action, adminActor(command), { ip: '', now, traits })
}
