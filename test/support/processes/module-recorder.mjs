/** Loaded with --import: appends the URL of each module that is loaded to the file MODULE_RECORD. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env.MODULE_RECORD

registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(file, `${url}\n`)
    return nextLoad(url, context)
  },
})
