import { longhaulHome } from '../settings/paths.js';
import { foreground, serviceExitCode } from './foreground.js';

// the process that `up` starts
try {
  await foreground({ home: longhaulHome(), env: process.env });
  process.exit(0);
} catch (err) {
  process.exit(serviceExitCode(err));
}
