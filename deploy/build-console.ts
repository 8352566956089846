/** `npm run console:build`: writes the console's files to console/dist, for the container image and other releases. */
import { mkdirSync, rmSync } from 'node:fs'

import { buildBundle, builtFolder } from '../routes/console/site/bundle.ts'

rmSync(builtFolder, { recursive: true, force: true })
mkdirSync(builtFolder, { recursive: true })
const { script, style } = await buildBundle(builtFolder)
console.log(`console/dist: ${script}, ${style}`)
