/** Admin endpoints for the console. Loaded while AUTH_CONSOLE_ENABLED is set. */
import { adminRoutes } from './admins.ts'
import auditExport from './audit-export.ts'
import { grantRoutes } from './grants.ts'
import { importExportRoutes } from './import-export.ts'
import { mailRoutes } from './mail.ts'
import mailTemplates from './mail-templates.ts'
import me from './me.ts'
import providers from './providers.ts'
import { settingRoutes } from './settings.ts'
import { statisticsRoutes } from './statistics.ts'
import { userRoutes } from './users.ts'

export const consoleRoutes = {
  me,
  ...adminRoutes,
  ...statisticsRoutes,
  ...mailRoutes,
  mailTemplates,
  auditExport,
  ...userRoutes,
  ...importExportRoutes,
  ...grantRoutes,
  providers,
  ...settingRoutes,
}
