#!/bin/sh
# Creates a role for each bot in BOT_ROLES, "alpha=<password> beta=<password>". Each can log in, owns the schema of its name
# with all its tables, and has no access to other schemas.
#
# The image runs this for a new volume. Run it by hand after changing BOT_ROLES, on an older volume, and after a restore. It
# can be run again at any time.
# -f: * and ? in passwords are not file patterns.
set -ef

for pair in ${BOT_ROLES:?is not set}; do
	BOT_NAME=${pair%%=*} BOT_PASSWORD=${pair#*=}
	case $pair in
	?*=?*) ;;
	*) echo "BOT_ROLES: expected name=password, separated by spaces" >&2 && exit 1 ;;
	esac
	if [ "$BOT_NAME" = "$POSTGRES_USER" ]; then
		echo "BOT_ROLES: $BOT_NAME is the administrator of the database: give the bot another name" >&2 && exit 1
	fi
	export BOT_NAME BOT_PASSWORD
	psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --single-transaction --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv name BOT_NAME
\getenv password BOT_PASSWORD
SET client_min_messages = warning;
SELECT format('CREATE ROLE %I', :'name')
	WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
-- A bot keeps one connection. The others must still find room when one misbehaves.
ALTER ROLE :"name" LOGIN CONNECTION LIMIT 10 PASSWORD :'password';
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO :"name";
CREATE SCHEMA IF NOT EXISTS :"name";
ALTER SCHEMA :"name" OWNER TO :"name";
SELECT format('ALTER TABLE %I.%I OWNER TO %I', schemaname, tablename, :'name')
	FROM pg_tables WHERE schemaname = :'name' \gexec
SQL
done
