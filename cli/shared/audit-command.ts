/** Records commands of operators in the audit log, like requests of admins. */
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import type { AuditAction } from '../../modules/audit/actions.ts'
import { type AuditSettings, adminActor, recordAudit } from '../../modules/audit/entry.ts'
import { createRecorder } from '../../plugins/background/events/record.ts'
import { systemActing } from '../../schemas/values/acting.ts'

/** Records the events of a command. */
export const commandEvents = (config: Config) => createRecorder(config, () => systemActing)

/** The actor is the command; only the operating system knows the user. */
export async function auditCommand(
  db: Db,
  config: Config,
  action: AuditAction,
  { command, now, ...traits }: { command: string; now: Date } & Record<string, unknown>,
): Promise<void> {
  const stored = !config.AUTH_AUDIT_LOG_DISABLE_POSTGRES
  const events = commandEvents(config)
  const settings: AuditSettings = { stored, log: { info() {} }, metrics: { count() {} }, events }
  await recordAudit(settings, db, action, adminActor(command), { ip: '', now, traits })
}
