/** Admin endpoints for the console. Loaded while AUTH_CONSOLE_ENABLED is set. */
import admin from './admin.ts'
import admins from './admins.ts'
import auditExport from './audit-export.ts'
import consents from './consents.ts'
import doctor from './doctor.ts'
import hooks from './hooks.ts'
import mail from './mail/list.ts'
import mailRetry from './mail/retry.ts'
import mailTemplates from './mail/templates.ts'
import me from './me.ts'
import providers from './providers.ts'
import settings from './settings.ts'
import statistics from './statistics.ts'
import bulk from './users/bulk.ts'
import exportUsers from './users/export.ts'
import grants from './users/grants.ts'
import importUsers from './users/import.ts'
import sendLink from './users/send-link.ts'

export const consoleRoutes = {
  me,
  admins,
  admin,
  statistics,
  mail,
  mailRetry,
  mailTemplates,
  auditExport,
  bulk,
  exportUsers,
  grants,
  importUsers,
  sendLink,
  consents,
  doctor,
  hooks,
  providers,
  settings,
}
