/** Run as a process of its own: starts Postgres in the folder given and ends as it is told. */
import { startPostgres } from '../../../cli/dev/postgres.ts'

const [dir = '', ending = ''] = process.argv.slice(2)
const postgres = await startPostgres({ dir, log: console })
// Before the address is told: whoever reads it may send the signal at once.
if (ending === 'ignore Ctrl-C') process.on('SIGINT', () => console.log('still here'))
console.log(postgres.url)
if (ending === 'exit') process.exit()
if (ending === 'stop') await postgres.stop()
if (ending !== 'stop') setInterval(() => {}, 1000)
