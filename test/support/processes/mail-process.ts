/** A process that queues one email, prints its id and sends it; to be killed. Configured by the environment. */
import { testConfig } from '../config.ts'
import { buildMailApp, sampleMail } from '../messages/mail-app.ts'

const settings = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
)
const app = await buildMailApp(testConfig(settings, false))
const id = await app.db
  .transaction()
  .execute((trx) => app.mailer.queue(trx, sampleMail, new Date()))
process.send?.(id)
